"""Several IPUs in a replica: ops on shards, and collectives over the IPUs, on both executors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.attributes.attributes import parts_from_attr
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes.support.rewriting import list_ops

TILES = 8
TARGET = ipu.Target(ipus=2, tiles_per_ipu=TILES)
F32 = np.float32


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.standard_normal(shape).astype(F32) for shape in shapes]


def check(function: Callable[..., Any], expected: Any, *given: np.ndarray, target: ipu.Target = TARGET) -> Any:
    """Compile ``function`` for several IPUs; both executors give what is expected."""
    executable = ipu.compile(ipu.function(function), args=given, target=target)
    wanted = [np.asarray(each) for each in (expected if isinstance(expected, list | tuple) else [expected])]
    for results in (executable.run(given), executable.run_per_tile(given)):
        for found, each in zip(results, wanted, strict=True):
            np.testing.assert_allclose(found, each, rtol=1e-5, atol=1e-6)
    return executable


def ipus_of(executable: Any) -> dict[str, set[int]]:
    return {each.name: set(np.unique(each.mapping.tiles() // TILES).tolist()) for each in executable.placements()}


def test_two_layers_on_two_ipus() -> None:
    def net(x, w1, w2):
        with ipu.shard(0):
            h = ipu.nn.relu(x @ w1 + 1.0)
        with ipu.shard(1):
            return h @ w2

    x, w1, w2 = arrays((6, 12), (12, 20), (20, 5))
    executable = check(net, np.maximum(x @ w1 + 1, 0) @ w2, x, w1, w2)
    assert ipus_of(executable) == {"x": {0}, "w1": {0}, "w2": {1}, "result": {1}}


def test_ops_without_a_shard_go_with_their_operands_and_inner_blocks_count() -> None:
    def net(x, y):
        with ipu.shard(0):
            a = np.exp(x)
            with ipu.shard(1):
                b = np.tanh(y)
        return a * 2.0, b[1:] * 3.0

    x, y = arrays((8,), (10,))
    executable = check(net, (np.exp(x) * 2, np.tanh(y)[1:] * 3), x, y)
    assert list(ipus_of(executable).values()) == [{0}, {1}, {0}, {1}]


def test_shard_minus_one_is_all_ipus() -> None:
    def net(x):
        with ipu.shard(-1):
            a = np.exp(x)
        with ipu.shard(1):
            return a, np.tanh(a)

    (x,) = arrays((64,))
    executable = check(net, (np.exp(x), np.tanh(np.exp(x))), x)
    assert list(ipus_of(executable).values()) == [{0, 1}, {0, 1}, {1}]


def test_loops_and_branches_over_two_ipus() -> None:
    def net(x, n):
        def body(_, carried):
            with ipu.shard(0):
                a = np.sin(carried)
            with ipu.shard(1):
                return a + 0.5

        y = ipu.fori_loop(0, 3, body, x)
        with ipu.shard(1):
            return ipu.cond(n > 2, lambda v: v * 2.0, lambda v: v - 1.0, y)

    (x,) = arrays((4, 4))
    y = x
    for _ in range(3):
        y = np.sin(y) + F32(0.5)
    check(net, y * 2, x, np.int32(3))
    check(net, y - 1, x, np.int32(1))


def test_variables_lie_on_the_ipu_that_uses_them() -> None:
    w0, w1 = (ipu.Variable(array, name) for array, name in zip(arrays((4, 6), (6, 3)), ("w0", "w1"), strict=True))

    def step(x):
        with ipu.shard(0):
            h = np.tanh(x @ w0.value)
            w0.assign(w0.value * 0.5)
        with ipu.shard(1):
            y = h @ w1.value
            w1.assign(w1.value + 1.0)
        return y

    (x,) = arrays((5, 4))
    old0, old1 = w0.value.copy(), w1.value.copy()
    executable = ipu.compile(ipu.function(step), args=(x,), target=TARGET)
    found = ipus_of(executable)
    assert (found["w0"], found["w1"]) == ({0}, {1})
    session = executable.session()
    np.testing.assert_allclose(session.run("main", x), np.tanh(x @ old0) @ old1, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(session.run("main", x), np.tanh(x @ old0 * F32(0.5)) @ (old1 + 1), rtol=1e-5, atol=1e-6)


def test_gathers_sorts_and_vmap_inside_of_a_shard() -> None:
    def net(x, index):
        with ipu.shard(0):
            rows = x[index]
        with ipu.shard(1):
            return np.sort(rows, axis=1), ipu.vmap(lambda row: row / row.max())(rows)

    (x,) = arrays((7, 6))
    index = np.array([5, 1, 1, 3], np.int32)
    rows = x[index]
    executable = check(net, (np.sort(rows, axis=1), rows / rows.max(1, keepdims=True)), x, index)
    assert list(ipus_of(executable).values()) == [{0}, {0}, {1}, {1}]


def test_two_replicas_of_two_ipus() -> None:
    def net(x):
        with ipu.shard(0):
            a = x * (ipu.replica_index() + 1).astype(F32)
        with ipu.shard(1):
            return ipu.all_reduce(np.exp(a))

    (x,) = arrays((9,))
    target = ipu.Target(ipus=2, tiles_per_ipu=TILES, replicas=2)
    check(net, np.exp(x) + np.exp(2 * x), x, target=target)


def on_shards(function: Callable[[list[Any]], list[Any]]) -> Callable[..., Any]:
    """``function`` of its arguments, one computed on each shard."""

    def net(*inputs):
        shards = []
        for index, each in enumerate(inputs):
            with ipu.shard(index):
                shards.append(each & True if each.dtype == bool else each * 1)
        return tuple(function(shards))

    return net


FOUR = ipu.Target(ipus=4, tiles_per_ipu=TILES)


def test_collectives_within_a_replica() -> None:
    within = ipu.within_replica
    inputs = arrays((2,), (3,), (3,), (3,))
    padded = np.stack([np.pad(each, (0, 3 - len(each))) for each in inputs])
    rows = arrays((1, 2), (3, 2), (1, 2), (2, 2))
    executable = check(on_shards(within.all_gather), [np.concatenate(inputs)] * 4, *inputs, target=FOUR)
    assert [where for name, where in ipus_of(executable).items() if "result" in name] == [{0}, {1}, {2}, {3}]
    check(on_shards(within.all_gather), [np.concatenate(rows)] * 4, *rows, target=FOUR)
    check(on_shards(lambda x: within.all_reduce(x, "max")), [padded.max(0)] * 4, *inputs, target=FOUR)
    parts = [*padded.sum(0), 0]
    check(on_shards(within.reduce_scatter), [[part] for part in parts], *inputs, target=FOUR)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("mean", np.mean),
        pytest.param("sum", np.sum, marks=pytest.mark.slow),
        pytest.param("min", np.min, marks=pytest.mark.slow),
        pytest.param("prod", np.prod, marks=pytest.mark.slow),
        ("square_sum", lambda x, axis: (x * x).sum(axis)),
    ],
)
def test_reductions_within_a_replica(op: str, expected: Any) -> None:
    inputs = arrays((5,), (5,))
    check(on_shards(lambda x: ipu.within_replica.all_reduce(x, op)), [expected(np.stack(inputs), axis=0)] * 2, *inputs)


def test_booleans_and_numbers_within_a_replica() -> None:
    flags = [np.array([True, False, True]), np.array([True, True, False])]
    check(on_shards(lambda x: ipu.within_replica.all_reduce(x, "and")), [flags[0] & flags[1]] * 2, *flags)
    check(on_shards(lambda x: ipu.within_replica.all_reduce(x, "or")), [flags[0] | flags[1]] * 2, *flags)
    numbers = [np.int32(4), np.int32(5)]
    check(on_shards(ipu.within_replica.all_reduce), [9, 9], *numbers)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, y, z: ipu.within_replica.all_gather(x), "takes a list of traced tensors, one for each shard"),
        (lambda x, y, z: ipu.within_replica.all_gather([x, x]), "was given one twice"),
        (lambda x, y, z: ipu.within_replica.all_gather([x, z]), "need one element type"),
        (lambda x, y, z: ipu.within_replica.all_gather([x, y]), "need one number of dimensions"),
        (lambda x, y, z: ipu.within_replica.all_reduce([y, y + 1]), "takes tensors of one dimension"),
        (lambda x, y, z: ipu.within_replica.all_reduce([x, x + 1], "xor"), "combines by sum, mean, min"),
        (lambda x, y, z: ipu.within_replica.all_reduce([x, x + 1], "and"), "and, or are for booleans"),
        (lambda x, y, z: ipu.within_replica.all_reduce([z, z + 1], "mean"), "means are of floats"),
    ],
)
def test_what_collectives_within_a_replica_refuse(function: Callable[..., Any], said: str) -> None:
    x, y = arrays((3,), (3, 2))
    with pytest.raises(CompileError, match=said):
        ipu.function(function).trace(x, y, np.ones(3, np.int32))


def test_tensors_in_another_order_than_their_shards_are_refused() -> None:
    with pytest.raises(
        CompileError, match=r"tensor 0, .* is of shard 1; give the tensors in the order of their shards"
    ):
        ipu.function(on_shards(lambda x: ipu.within_replica.all_gather(x[::-1]))).trace(*arrays((3,), (3,)))


def test_shards_that_are_refused() -> None:
    with pytest.raises(CompileError, match=r"call it inside an @ipu\.function"), ipu.shard(0):
        pass
    (x,) = arrays((3,))

    def on(index):
        def net(x):
            with ipu.shard(index):
                return np.exp(x)

        return ipu.function(net)

    with pytest.raises(CompileError, match=r"counted from 0, got 0\.5"):
        on(0.5).trace(x)
    with pytest.raises(CompileError, match="or -1 for all, got -2"):
        on(-2).trace(x)
    with pytest.raises(CompileError, match="is on shard 2, but the target has 2 IPUs, shards 0 to 1"):
        ipu.compile(on(2), args=(x,), target=TARGET)


def test_ops_stay_on_their_shards_where_a_loop_swaps_what_it_carries() -> None:
    def swapped(x, n):
        def round_(_, carried):
            a, b = carried
            with ipu.shard(0):
                a = np.exp(a @ a)
            with ipu.shard(1):
                b = np.tanh(b)
            return b, a

        return ipu.fori_loop(0, n, round_, (x, x + 1))

    x, y = np.eye(4, dtype=F32) / 2, np.eye(4, dtype=F32) / 2 + 1
    for _ in range(3):
        x, y = np.tanh(y), np.exp(x @ x)
    executable = check(swapped, [x, y], np.eye(4, dtype=F32) / 2, np.array(3, np.int32))
    module = executable.module("l2").operation
    ipus = {
        inner.name: parts_from_attr(op.attributes["ipu.parts"]).min_tile // TILES
        for op in list_ops(module, "linalg.generic")
        for inner in list_ops(op)
    }
    assert (ipus["math.exp"], ipus["math.tanh"]) == (0, 1)
