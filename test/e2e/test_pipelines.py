"""Pipelines over several IPUs give what the same stages give one after the other."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(20261123)
SIZE, ROWS = 6, 3


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def first(p: Any, x: Any) -> Any:
    return np.tanh(x @ p["w"] + p["b"]), x[:, 0] * 2.0


def middle(p: Any, given: Any) -> Any:
    h, extra = given
    return np.tanh(h @ p["w"] + p["b"]) * h, extra


def last(p: Any, given: Any, y: Any) -> Any:
    h, extra = given
    error = h @ p["w"] + p["b"] - y
    return (error**2).mean() + (extra * error[:, 0]).sum(), np.argmax(error, axis=1).astype(np.int32)


def stages_of(count: int) -> list[Any]:
    return [first, *[middle] * (count - 2), last]


def parameters_of(count: int) -> list[dict[str, np.ndarray]]:
    return [{"w": normal(SIZE, SIZE) / 3, "b": normal(SIZE)} for _ in range(count)]


def one_after_the_other(stages: list[Any], parameters: Any, x: Any, y: Any) -> Any:
    given = stages[0](parameters[0], x)
    for stage, own in zip(stages[1:-1], parameters[1:-1], strict=True):
        given = stage(own, given)
    return stages[-1](parameters[-1], given, y)


def expected(stages: list[Any], parameters: Any, x: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    """The results of all micro-batches, and the sums of their gradients."""

    def step(parameters, x, y):
        return ipu.value_and_grad(lambda p: one_after_the_other(stages, p, x, y), has_aux=True)(parameters)

    compiled = ipu.function(step, target=ipu.Target(tiles_per_ipu=8))
    found = [compiled(parameters, one, other) for one, other in zip(x, y, strict=True)]
    losses, picked = (np.stack([each[0][k] for each in found]) for k in range(2))
    slopes = [{name: sum(each[1][k][name] for each in found) for name in own} for k, own in enumerate(parameters)]
    return (losses, picked), slopes


def assert_same(found: Any, wanted: Any, scale: float = 1.0) -> None:
    (losses, picked), slopes = found
    np.testing.assert_allclose(losses, wanted[0][0], rtol=1e-12)
    np.testing.assert_array_equal(picked, wanted[0][1])
    for own, other in zip(slopes, wanted[1], strict=True):
        for name in own:
            np.testing.assert_allclose(own[name], other[name] * scale, rtol=1e-9, atol=1e-12)


CASES = [
    (2, "grouped", "none"),
    (2, "interleaved", "elementwise"),
    (2, "sequential", "inputs"),
    (3, "grouped", "inputs"),
    (3, "interleaved", "none"),
    (4, "grouped", "elementwise"),
]


@pytest.mark.parametrize(("count", "schedule", "recompute"), CASES)
def test_training_is_that_of_one_stage_after_the_other(count, schedule, recompute):
    stages, parameters = stages_of(count), parameters_of(count)
    batches = 2 * count if schedule != "sequential" else 3
    x, y = normal(batches, ROWS, SIZE), normal(batches, ROWS, SIZE)
    pipe = ipu.pipeline(stages, batches, schedule, recompute=recompute)

    @ipu.function(target=ipu.Target(tiles_per_ipu=8, ipus=1 << (count - 1).bit_length()))
    def train(parameters, x, y):
        return pipe.value_and_grad(parameters, [x, *[None] * (count - 2), y])

    wanted = expected(stages, parameters, x, y)
    assert_same(train(parameters, x, y), wanted)
    assert_same(train(parameters, x, y), wanted)  # nothing is left of the run before


def test_the_per_tile_executor_finds_the_same():
    stages, parameters = stages_of(2), parameters_of(2)
    x, y = normal(4, ROWS, SIZE), normal(4, ROWS, SIZE)
    pipe = ipu.pipeline(stages, 4)
    leaves = [leaf for own in parameters for leaf in own.values()]

    def train(w0, b0, w1, b1, x, y):
        return pipe.value_and_grad([{"w": w0, "b": b0}, {"w": w1, "b": b1}], [x, y])

    exe = ipu.compile(train, args=(*leaves, x, y), target=ipu.Target(tiles_per_ipu=4, ipus=2))
    for fast, slow in zip(exe.run([*leaves, x, y]), exe.run_per_tile([*leaves, x, y]), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-9)


def test_inference_gives_the_results_of_all_micro_batches():
    stages, parameters = stages_of(3), parameters_of(3)
    x, y = normal(6, ROWS, SIZE), normal(6, ROWS, SIZE)
    pipe = ipu.pipeline(stages, 6)

    @ipu.function(target=ipu.Target(tiles_per_ipu=8, ipus=4))
    def run(parameters, x, y):
        return pipe(parameters, [x, None, y])

    losses, picked = run(parameters, x, y)
    wanted = expected(stages, parameters, x, y)
    np.testing.assert_allclose(losses, wanted[0][0], rtol=1e-12)
    np.testing.assert_array_equal(picked, wanted[0][1])


def test_the_mean_of_gradients_and_stored_values_in_remote_memory():
    stages, parameters = stages_of(2), parameters_of(2)
    x, y = normal(4, ROWS, SIZE), normal(4, ROWS, SIZE)
    pipe = ipu.pipeline(stages, 4, reduction="mean", offload=True)

    @ipu.function(target=ipu.Target(tiles_per_ipu=8, ipus=2))
    def train(parameters, x, y):
        return pipe.value_and_grad(parameters, [x, y])

    assert_same(train(parameters, x, y), expected(stages, parameters, x, y), 1 / 4)


def test_replicas_of_a_pipeline_share_their_gradients():
    stages, parameters = stages_of(2), parameters_of(2)
    x, y = normal(2, 4, ROWS, SIZE), normal(2, 4, ROWS, SIZE)
    pipe = ipu.pipeline(stages, 4)

    def train(parameters, x, y):
        results, slopes = pipe.value_and_grad(parameters, [x, y])
        return results, [{name: ipu.all_reduce(each) for name, each in own.items()} for own in slopes]

    spec = ipu.per_replica(ipu.TensorSpec(x.shape[1:], np.float64))
    exe = ipu.compile(train, args=(parameters, spec, spec), target=ipu.Target(tiles_per_ipu=8, ipus=2, replicas=2))
    (losses, _), slopes = exe(parameters, x, y)
    each = [expected(stages, parameters, *pair) for pair in zip(x, y, strict=True)]
    np.testing.assert_allclose(losses, np.stack([one[0][0] for one in each]), rtol=1e-12)
    for stage, own in enumerate(slopes):
        for name, found in own.items():
            wanted = sum(one[1][stage][name] for one in each)
            np.testing.assert_allclose(found.reshape(-1, *wanted.shape)[0], wanted, rtol=1e-9, atol=1e-12)


def test_a_network_trains_in_a_pipeline():
    w = ipu.Variable([normal(SIZE, SIZE) / 3, normal(SIZE, 1)], name="w")
    pipe = ipu.pipeline([lambda p, x: np.tanh(x @ p), lambda p, h, y: ((h @ p - y) ** 2).mean()], 8, reduction="mean")
    x = normal(8, 16, SIZE)
    y = np.sin(x.sum(-1, keepdims=True))

    @ipu.function(target=ipu.Target(tiles_per_ipu=8, ipus=2))
    def step(x, y):
        losses, slopes = pipe.value_and_grad(w.value, [x, y])
        w.assign([own - 0.2 * slope for own, slope in zip(w.value, slopes, strict=True)])
        return losses.mean()

    losses = [float(step(x, y)) for _ in range(60)]
    assert losses[-1] < 0.2 * losses[0]


def test_code_does_not_grow_with_micro_batches_nor_with_replicas():
    def sizes(count: int, replicas: int) -> tuple[int, int]:
        stages, parameters = stages_of(2), parameters_of(2)
        pipe = ipu.pipeline(stages, count)
        spec = ipu.per_replica(ipu.TensorSpec((count, ROWS, SIZE), np.float64))
        exe = ipu.compile(
            lambda p, x, y: pipe.value_and_grad(p, [x, y]),
            args=(parameters, spec, spec),
            target=ipu.Target(tiles_per_ipu=8, ipus=2, replicas=replicas),
        )
        return len(exe.mlir("l3")), len(exe.source())

    small = sizes(4, 4)
    for large in (sizes(64, 4), sizes(4, 16)):  # some arrays of few replicas are registers of a kernel, without a line
        assert all(size < 1.1 * other for size, other in zip(large, small, strict=True))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ipu.pipeline([first], 4), "takes two at least"),
        (lambda: ipu.pipeline([first, last], 4, "round"), "schedule='round'; it is one of grouped"),
        (lambda: ipu.pipeline([first, last], 4, devices=[0]), "1 devices for 2 stages"),
        (lambda: ipu.pipeline([first, last], 4)([{}, {}], [1, 2]), "in a function that is compiled"),
        (lambda: ipu.pipeline([first, last], "4"), "count='4'; it is a whole number"),
        (lambda: ipu.pipeline([first, last], True), "count=True; it is a whole number"),
        (lambda: ipu.pipeline([first, last], 4, "sequential", serialized=2.0), "serialized=2.0; it is a whole number"),
        (lambda: ipu.pipeline([first, last], 4, devices=[0, 1.0]), "devices=1.0; it is a whole number"),
        (lambda: ipu.pipeline([first, last], 4, devices=[0, -1]), r"devices=\[0, -1\]; IPUs are counted from 0"),
        (
            lambda: ipu.pipeline([first, last], 4, "interleaved", devices=[0, 0]),
            r"an IPU for each stage, got devices=\[0, 0\]; schedule='grouped'",
        ),
        (lambda: ipu.pipeline([first, last], 4, devices=0), "devices=0; it is a list of numbers of IPUs"),
        (lambda: ipu.pipeline([first, last], 4, offload=3), "offload=3; it is a list of stored, gradients, parameters"),
        (lambda: ipu.pipeline([first, last], 4, recompute=None), "recompute=None; it is one of none, .* or a number"),
        (lambda: ipu.pipeline([first, last], 4, reduction=np.ones(2)), "reduction=array.*; it is one of sum, mean"),
        (lambda: ipu.pipeline([first, last], 4, accumulate="f99"), "'f99' names no element type"),
        (lambda: ipu.pipeline([first, last], 4, accumulate=np.int32), "accumulate=int32; gradients .* in a float type"),
        (lambda: ipu.pipeline(first, 4), "a pipeline with stages=.*; it is a list of functions"),
        (lambda: ipu.pipeline([first, None], 4), "a pipeline with the stage None; a stage is a function, or a list"),
        (lambda: ipu.pipeline([first, last], 4, recompute=True), "recompute=True; it is one of none"),
        (lambda: ipu.pipeline([first, last], 4, loss=3), "loss=3; it is a function of what the last stage returns"),
    ],
)
def test_what_is_no_pipeline_is_said(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


@pytest.mark.parametrize(
    ("count", "use", "message"),
    [
        (6, lambda pipe, p, x: pipe.value_and_grad(p, [x, x]), "takes a multiple of 4: 4 or 8"),
        (-1, lambda pipe, p, x: pipe.value_and_grad(p, [x, x]), "has -1 micro-batches; .* takes a multiple of 4: 4$"),
        (4, lambda pipe, p, x: pipe.value_and_grad(None, [x, x]), "parameters=None; it is a list with those of each"),
        (
            4,
            lambda pipe, p, x: pipe.value_and_grad(p, x),
            "data=<traced .*; it is a list with those of each",
        ),
        (4, lambda pipe, p, x: pipe.value_and_grad(p[:1], [x, x]), "got lists of 1 and 2"),
        (4, lambda pipe, p, x: pipe.value_and_grad(p, [x[:3], x]), "of 4 micro-batches: reshape a batch, whose .* to"),
        (4, lambda pipe, p, x: pipe.value_and_grad(p, [x]), "stage 1 calls last with 2 arguments: missing .* 'y'"),
    ],
)
def test_what_cannot_run_is_said(count, use, message):
    pipe, parameters = ipu.pipeline([first, last], count), parameters_of(2)
    x = normal(4, ROWS, SIZE)
    with pytest.raises((TypeError, ValueError), match=message):
        ipu.function(lambda p, x: use(pipe, p, x), target=ipu.Target(tiles_per_ipu=8, ipus=2))(parameters, x)
