"""Options of pipelines change what is given, added up and stored, and nothing else."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(20261124)
SIZE, ROWS, COUNT = 5, 3, 8
SMALL = ipu.Target(tiles_per_ipu=4, ipus=2)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


W, V = normal(SIZE, SIZE) / 2, normal(SIZE, 1)
X, Y = normal(COUNT, ROWS, SIZE), normal(COUNT, ROWS, 1)


def encode(w: Any, x: Any) -> Any:
    return np.tanh(x @ w)


def decode(v: Any, h: Any, y: Any) -> Any:
    error = h @ v - y
    return (error**2).mean(), error


def one_by_one(encode: Any = encode, decode: Any = decode) -> list[Any]:
    """Of each micro-batch ((loss, error), (slope of w, slope of v))."""

    def both(parameters, x, y):
        return decode(parameters[1], encode(parameters[0], x), y)

    step = ipu.function(lambda p, x, y: ipu.value_and_grad(both, has_aux=True)(p, x, y), target=SMALL)
    return [step((W, V), x, y) for x, y in zip(X, Y, strict=True)]


EACH = one_by_one()
LOSSES = np.stack([each[0][0] for each in EACH])
SLOPES = [sum(each[1][place] for each in EACH) for place in range(2)]


def train(pipe: Any, *rest: Any, target: Any = SMALL) -> Any:
    return ipu.function(lambda w, v, x, y: pipe.value_and_grad([w, v], [x, y], *rest), target=target)(W, V, X, Y)


SCHEDULES = ["grouped", pytest.param("interleaved", marks=pytest.mark.slow), "sequential"]


def close(found: Any, wanted: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("options", "share"),
    [
        ({"reduction": "running_mean", "offload": ["gradients", "parameters"]}, 1 / COUNT),
        ({"reduction": "mean", "offload": ["stored", "gradients"], "recompute": "inputs"}, 1 / COUNT),
        ({"offload": ["stored", "parameters"], "results": "all", "recompute": 0.5}, 1),
    ],
)
def test_reductions_and_remote_memory(schedule, options, share):
    (losses, errors), slopes = train(ipu.pipeline([encode, decode], COUNT, schedule, **options))
    close(losses, LOSSES)
    close(errors, np.stack([each[0][1] for each in EACH]))
    for found, wanted in zip(slopes, SLOPES, strict=True):
        close(found, wanted * share)


@pytest.mark.parametrize("schedule", ["grouped", "sequential"])
def test_results_are_added_up_or_the_last_ones(schedule):
    (losses, error), slopes = train(ipu.pipeline([encode, decode], COUNT, schedule, results=["sum", "last"]))
    close(losses, LOSSES.sum())
    close(error, EACH[-1][0][1])
    close(slopes[0], SLOPES[0])
    (losses, error), _ = train(ipu.pipeline([encode, decode], COUNT, schedule, results=["none", "all"]))
    assert losses is None
    assert error.shape == (COUNT, ROWS, 1)


def test_gradients_are_added_up_in_another_type():
    _, slopes = train(ipu.pipeline([encode, decode], COUNT, accumulate=np.float32))
    assert [each.dtype for each in slopes] == [np.float32, np.float32]
    for found, wanted in zip(slopes, SLOPES, strict=True):
        close(found, wanted, 1e-5)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_all_stages_know_the_number_of_the_micro_batch(schedule):
    def first(w, x):
        return encode(w, x) * ipu.micro_batch().astype(np.float64), ipu.micro_batch()

    def last(v, given, y):
        h, number = given
        loss, _ = decode(v, h, y)
        return loss * ipu.micro_batch().astype(np.float64), number - ipu.micro_batch(), ipu.micro_batch()

    (losses, difference, numbers), slopes = train(ipu.pipeline([first, last], COUNT, schedule, recompute="inputs"))
    np.testing.assert_array_equal(difference, np.zeros(COUNT, np.int32))
    np.testing.assert_array_equal(numbers, np.arange(COUNT))

    def weighted(number, parameters, x, y):
        return number * decode(parameters[1], encode(parameters[0], x) * number, y)[0]

    step = ipu.function(lambda n, p, x, y: ipu.value_and_grad(lambda p: weighted(n, p, x, y))(p), target=SMALL)
    each = [step(np.float64(n), (W, V), x, y) for n, (x, y) in enumerate(zip(X, Y, strict=True))]
    close(losses, [one[0] for one in each])
    for place in range(2):
        close(slopes[place], sum(one[1][place] for one in each))


def test_the_number_of_micro_batches_is_known_at_run_time():
    pipe = ipu.pipeline(
        [
            lambda w: np.tanh(w * ipu.micro_batch().astype(np.float64)),
            lambda v, h: ((h * v).sum(), ipu.micro_batch()),
        ],
        None,
        results="sum",
    )
    w, v = normal(4), normal(4)

    def run(w, v, count):
        return pipe.value_and_grad([w, v], count=count)

    exe = ipu.compile(run, args=(w, v, np.int32(4)), target=SMALL)
    for count in (4, 12):
        (loss, numbers), (_, dv) = exe(w, v, np.int32(count))
        assert numbers == sum(range(count))
        waves = np.tanh(w * np.arange(count)[:, None])
        close(loss, (waves * v).sum())
        close(dv, waves.sum(0))
    with pytest.raises(ipu.RunError, match="takes a multiple of 4 micro-batches: 4, 8, 12"):
        exe(w, v, np.int32(6))


@pytest.mark.parametrize("serialized", [2, 4])
def test_stages_work_on_several_micro_batches_before_the_next_one(serialized):
    pipe = ipu.pipeline([encode, decode], COUNT, "sequential", devices=[0, 0], serialized=serialized)
    (losses, _), slopes = train(pipe, target=ipu.Target(tiles_per_ipu=4))
    close(losses, LOSSES)
    for found, wanted in zip(slopes, SLOPES, strict=True):
        close(found, wanted)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_functions_of_one_stage_run_at_the_same_time(schedule):
    def twice(w, given):
        return given * w

    def wave(w, given):
        return np.tanh(given + w)

    def end(v, given, y):
        left, right = given
        return decode(v, left + right, y)[0]

    pipe = ipu.pipeline([encode, [twice, wave], end], 12, schedule, devices=[0, [1, 2], 3])
    own = [W, [normal(SIZE), normal(SIZE)], V]
    x, y = normal(12, ROWS, SIZE), normal(12, ROWS, 1)
    target = ipu.Target(tiles_per_ipu=4, ipus=4)
    losses, slopes = ipu.function(lambda p, x, y: pipe.value_and_grad(p, [x, None, y]), target=target)(own, x, y)

    def together(p, x, y):
        h = encode(p[0], x)
        return end(p[2], (twice(p[1][0], h), wave(p[1][1], h)), y)

    step = ipu.function(lambda p, x, y: ipu.value_and_grad(together)(p, x, y), target=SMALL)
    each = [step(own, *pair) for pair in zip(x, y, strict=True)]
    close(losses, [one[0] for one in each])
    for part in (lambda s: s[0], lambda s: s[1][0], lambda s: s[1][1], lambda s: s[2]):
        close(part(slopes), sum(part(one[1]) for one in each))


def test_a_value_that_is_kept_is_not_computed_again():
    def kept(w, x):
        return encode(w, ipu.keep(np.sin(x @ w)))

    def bytes_stored(stage: Any) -> str:
        pipe = ipu.pipeline([stage, decode], COUNT, recompute="inputs")
        exe = ipu.compile(lambda w, v, x, y: pipe.value_and_grad([w, v], [x, y]), args=(W, V, X, Y), target=SMALL)
        return exe.mlir("l1")

    assert bytes_stored(kept).count("math.sin") < bytes_stored(lambda w, x: encode(w, np.sin(x @ w))).count("math.sin")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ipu.pipeline([encode, decode], 4, offload=["weights"]), "a list of stored, gradients, parameters"),
        (
            lambda: ipu.pipeline([encode, decode], 4, recompute=-0.5),
            "recompute=-0.5; it is one of none, elementwise, inputs, or a number from 0 on",
        ),
        (lambda: ipu.pipeline([encode, decode], 4, serialized=2), "it takes the schedule sequential"),
        (lambda: train(ipu.pipeline([encode, decode], COUNT, results=["sum"])), "whose last stage returns 2 tensors"),
        (lambda: train(ipu.pipeline([encode, decode], COUNT), 4), "the pipeline has 8 micro-batches; a call cannot"),
        (lambda: train(ipu.pipeline([encode, decode], None)), "the pipeline has no count; give one with the call"),
        (lambda: train(ipu.pipeline([encode, decode], None), 4), "let its stages dequeue"),
        (lambda: train(ipu.pipeline([encode, [decode, decode]], COUNT)), "give a list, one for each"),
        (lambda: ipu.micro_batch(), "is for stages of a pipeline"),
    ],
)
def test_options_that_do_not_fit_are_said(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()
