"""Layers cut into stages: the best cuts of all, by cycles and by bytes, and pipelines of them."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir import layers
from ipu_mlir.stages.cuts import best_cuts, boundaries

RNG = np.random.default_rng(20261124)
SMALL = ipu.Target(tiles_per_ipu=4)


def slowest_and_squares(cycles: list[int], cuts: Any) -> tuple[int, int]:
    sums = [sum(cycles[first:last]) for first, last in boundaries(cuts, len(cycles))]
    return max(sums), sum(each * each for each in sums)


@pytest.mark.parametrize("seed", range(40))
def test_no_other_cuts_are_better(seed: int) -> None:
    """All cuts of a few random layers, with and without a limit for each stage."""
    rng = np.random.default_rng(seed)
    count, stages = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    cycles = [int(each) for each in rng.integers(0, 20, count)]
    sizes = [int(each) for each in rng.integers(0, 10, count)]
    limits = [int(each) for each in rng.integers(8, 30, stages)]

    def fits(stage: int, first: int, last: int) -> bool:
        return seed % 2 == 0 or sum(sizes[first:last]) <= limits[stage]

    possible = [
        cuts
        for cuts in combinations(range(1, count), stages - 1)
        if all(fits(stage, *pair) for stage, pair in enumerate(boundaries(cuts, count)))
    ]
    found = best_cuts(cycles, stages, fits)
    if not possible:
        assert found is None
    else:
        assert tuple(found) in possible
        assert slowest_and_squares(cycles, found) == min(slowest_and_squares(cycles, each) for each in possible)


def net(blocks: int, size: int = 8) -> layers.Sequential:
    block = layers.Residual(
        layers.Sequential([layers.Dense(size, 2 * size, ipu.nn.gelu), layers.Dense(2 * size, size)])
    )
    return layers.Sequential([layers.Embedding(5, size), np.tanh, *[block] * blocks, layers.Dense(size, 3)])


def test_equal_blocks_are_shared_out_evenly_and_the_user_may_move_them() -> None:
    network = net(6)
    words = ipu.TensorSpec((16,), np.int32)
    found = ipu.cut(network, network.init(0), words, stages=3, target=SMALL)
    costs = [each.cycles for each in found.costs]
    assert len(set(costs[2:8])) == 1, "equal layers cost the same"
    assert costs[2] > max(costs[0], costs[1], costs[8]) > 0
    assert list(found.cuts) == best_cuts(costs, 3) and max(found.cycles()) < 1.3 * sum(costs) / 3
    moved = found.at([1, 2])
    assert moved.cycles() == [costs[0], costs[1], sum(costs[2:])] and moved.costs is found.costs
    lines = str(moved).splitlines()
    assert len(lines) == 5 and lines[3].split()[:5] == ["2", "2", "..", "8", f"{sum(costs[2:]):,}"]
    mean = sum(costs) / 3
    assert lines[4] == (
        f"stage 2 is the slowest, {sum(costs[2:]) / mean:.3f} of the mean; "
        f"with its layer 2, Residual, stage 1 would be {(costs[1] + costs[2]) / mean:.3f}"
    )
    parameters = network.init(0)
    assert [len(each) for each in moved.split(parameters)] == [1, 1, 7] and moved.split(parameters)[1] == [()]


@pytest.mark.slow
def test_stages_that_wait_need_more_memory() -> None:
    """The first stage of a grouped pipeline stores for more micro-batches than the last, which has no room to spare."""
    network = net(4)
    words = ipu.TensorSpec((16,), np.int32)
    even = ipu.cut(network, network.init(0), words, stages=2, target=SMALL)
    one = ipu.cut(network, network.init(0), words, stages=2, target=SMALL, schedule="sequential")
    waiting = sum(each.stored_bytes for each in even.costs[: even.cuts[0]])
    assert even.bytes()[0] - one.at(even.cuts).bytes()[0] == 2 * waiting
    assert even.bytes()[1] == one.at(even.cuts).bytes()[1]
    memory = int((even.bytes()[0] - 1) / 0.9 / 4)  # less than the even cut takes
    tight = ipu.cut(
        network, network.init(0), words, stages=2, target=ipu.Target(tiles_per_ipu=4, bytes_per_tile=memory)
    )
    assert tight.cuts[0] < even.cuts[0] and tight.bytes()[0] <= 0.9 * 4 * memory
    with pytest.raises(ipu.CompileError, match=r"no cut of 7 layers into 2 stages fits 90% of the [\d,]+ B of an IPU"):
        ipu.cut(network, network.init(0), words, stages=2, target=ipu.Target(tiles_per_ipu=4, bytes_per_tile=4096))


def test_a_layer_stores_its_inputs_alone_if_the_rest_is_computed_again() -> None:
    dense = layers.Sequential([layers.Dense(8, 8, np.tanh), layers.Dense(8, 8, np.tanh)])
    network, x = layers.Sequential([dense, dense]), ipu.TensorSpec((5, 8))
    stored = {}
    for recompute in ("none", "inputs"):
        found = ipu.cut(network, network.init(0), x, stages=2, target=SMALL, recompute=recompute)
        stored[recompute] = found.costs[0].stored_bytes
    assert stored == {"none": 3 * 5 * 8 * 4, "inputs": 5 * 8 * 4}


def test_the_stages_make_a_pipeline_that_computes_what_the_network_does() -> None:
    network = net(2)
    parameters = network.init(0, np.float64)
    words, labels = (RNG.integers(0, 3, (4, 6)).astype(np.int32) for _ in range(2))
    found = ipu.cut(network, parameters, ipu.TensorSpec((6,), np.int32), stages=2, target=SMALL)
    pipe = ipu.pipeline(found.stages, 4, reduction="mean", loss=ipu.nn.cross_entropy)

    @ipu.function(target=ipu.Target(tiles_per_ipu=4, ipus=2))
    def staged(parameters: Any, words: Any, labels: Any) -> Any:
        return pipe.value_and_grad(parameters, [words, labels])

    @ipu.function(target=SMALL)
    def whole(parameters: Any, words: Any, labels: Any) -> Any:
        return ipu.value_and_grad(lambda p: ipu.nn.cross_entropy(network(p, words), labels))(parameters)

    losses, slopes = staged(found.split(parameters), words, labels)
    value, wanted = whole(parameters, words.ravel(), labels.ravel())
    np.testing.assert_allclose(losses.mean(), value, rtol=1e-12)
    ipu.tree_map(
        lambda one, other: np.testing.assert_allclose(one, other, atol=1e-12), [*slopes[0], *slopes[1]], wanted
    )


def test_layers_of_torch_and_jax_are_cut_as_well() -> None:
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    nn = torch.nn
    module = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
    x = ipu.TensorSpec((4, 8))
    found = ipu.cut(module, ipu.parameters_of(module), x, stages=2, target=SMALL)
    assert [each.name for each in found.costs] == ["Linear", "Tanh", "Linear", "Tanh", "Linear"]
    assert min(each.cycles for each in found.costs) > 0

    @jax.jit
    def dense(w: Any, x: Any) -> Any:
        return jax.numpy.tanh(x @ w)

    found = ipu.cut([dense] * 4, [ipu.TensorSpec((8, 8))] * 4, x, stages=2, target=SMALL)
    assert found.cuts == (2,) and found.costs[0].name == "dense"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stages": 1}, "4 layers cannot be cut into 1 stages; give 2 to 4"),
        ({"stages": 5}, "4 layers cannot be cut into 5 stages; give 2 to 4"),
        ({"parameters": []}, "4 layers have parameters, got those of 0"),
        ({"recompute": "all"}, "recompute='all'; it is one of none, elementwise, inputs"),
        ({"schedule": "fast"}, "schedule='fast'; it is one of grouped, interleaved, sequential"),
    ],
)
def test_what_is_refused(change: dict[str, Any], message: str) -> None:
    network = net(1)
    given = {"parameters": network.init(0), "x": ipu.TensorSpec((4,), np.int32), "stages": 2, "target": SMALL, **change}
    with pytest.raises(ipu.CompileError, match=message):
        ipu.cut(network, **given)


def test_cuts_that_are_none_are_refused() -> None:
    network = net(1)
    found = ipu.cut(network, network.init(0), ipu.TensorSpec((4,), np.int32), stages=2, target=SMALL)
    for cuts in ([0, 2], [2, 2], [4]):
        with pytest.raises(ipu.CompileError, match="give increasing numbers from 1 to 3"):
            found.at(cuts)
    with pytest.raises(ipu.CompileError, match="4 layers have parameters, got those of 1"):
        found.split([()])


def test_layers_with_running_means_are_refused() -> None:
    norms = layers.Sequential([layers.Dense(3, 4), layers.Residual(layers.BatchNorm(4))])
    with pytest.raises(ipu.CompileError, match=r"have no state, and Residual has running means; .*net\.train"):
        ipu.cut(norms, norms.init(0), ipu.TensorSpec((2, 3)), stages=2, target=SMALL)
