"""Stochastic rounding, overflow and exceptions: both executors, any number of tiles, with and without machine code."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.passes.core.pipeline_text import PipelineError

F16 = ipu.TensorSpec((8, 9), np.float16)
ONES = np.ones((8, 9), np.float16)
STOCHASTIC = {"rounding": "stochastic"}


def compiled(function: Any, specs: list[Any], modes: Any, tiles: int = 3, **given: Any) -> Any:
    return ipu.compile(function, args=specs, float_modes=modes, target=ipu.Target(tiles_per_ipu=tiles), **given)


def runs(function: Any, specs: list[Any], modes: Any, inputs: list[Any]) -> list[Any]:
    """The results of every executor, each in its first run."""
    found = []
    for tiles in (1, 3):
        found += [compiled(function, specs, modes, tiles, kernels=k).run(inputs) for k in ("never", "always")]
        found.append(compiled(function, specs, modes, tiles).run_per_tile(inputs))
    return found


def same_in_every_executor(function: Any, specs: list[Any], modes: Any, inputs: list[Any]) -> list[Any]:
    first, *others = runs(function, specs, modes, inputs)
    for other in others:
        for one, same in zip(first, other, strict=True):
            np.testing.assert_array_equal(one, same)
    return first


def test_a_tenth_rounds_up_with_probability_0_4() -> None:
    exe = compiled(lambda x: x.astype(np.float16), [ipu.TensorSpec((1000, 100), np.float32)], STOCHASTIC)
    x = np.full((1000, 100), 0.1, np.float32)
    first, second = exe.run([x])[0], exe.run([x])[0]
    for drawn in (first, second):
        assert set(np.unique(drawn)) == {np.float16(0.09998), np.float16(0.10004)}
        assert abs(np.mean(drawn > 0.1) - 0.4) < 0.01
    assert 0.4 < np.mean(first == second) < 0.6, "another run has noise of its own"


def test_neighbours_rows_and_results_have_noise_of_their_own() -> None:
    def twice(x: Any) -> Any:
        return x.astype(np.float16), (x + np.float32(0)).astype(np.float16)

    one, other = compiled(twice, [ipu.TensorSpec((500, 400), np.float32)], STOCHASTIC).run(
        [np.full((500, 400), 0.1, np.float32)]
    )
    up, again = (each > 0.1 for each in (one, other))
    pairs = [(up, again), (up[1:], up[:-1]), (up[:, 1:], up[:, :-1]), (up[4:], up[:-4])]
    for a, b in pairs:
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.01
    assert abs(up.mean(0) - 0.4).max() < 0.12 and abs(up.mean(1) - 0.4).max() < 0.12  # five standard deviations


@pytest.mark.parametrize("overflow", ["infinity", "clip", "nan"])
@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
def test_executors_give_the_same_bits(rounding: str, overflow: str) -> None:
    def main(x: Any, y: Any) -> Any:
        return x.astype(np.float16) * y, np.exp(y) + y, (x * 3).astype(np.float16) / y, y * np.float16(2)

    x = (np.random.default_rng(1).normal(size=(8, 9)) * 10.0 ** np.arange(-8, 1)).astype(np.float32)
    y = np.linspace(-40, 40, 72, dtype=np.float16).reshape(8, 9)
    y[0, :5] = [65504, np.inf, -np.inf, 11.1, 0]
    x[1, :4] = [65519, 70000, -np.inf, 65535.9]
    modes = {"rounding": rounding, "overflow": overflow}
    found = same_in_every_executor(main, [ipu.TensorSpec((8, 9), np.float32), F16], modes, [x, y])
    beyond = {"infinity": np.inf, "clip": 65504, "nan": np.nan}[overflow]
    np.testing.assert_array_equal(found[3][0, :3], np.array([beyond, np.inf, -np.inf], np.float16))
    np.testing.assert_array_equal(found[1][0, 0], np.float16(beyond if overflow != "infinity" else np.inf))
    assert found[2][0, 4] in (np.inf, -np.inf), "a division by zero is no overflow"


def test_bf16_and_subnormal_numbers_keep_their_mean() -> None:
    import ml_dtypes

    specs = [ipu.TensorSpec((20000,), np.float32)]
    for kind, value, low, step in (
        (ml_dtypes.bfloat16, 1 + 2.0**-9, 1.0, 2.0**-7),
        (np.float16, 5.75 * 2.0**-24, 5 * 2.0**-24, 2.0**-24),
        (np.float16, -(2.0**-15 + 2.0**-26), -(2.0**-15 + 2.0**-24), 2.0**-24),
    ):
        x = np.full(20000, value, np.float32)
        (drawn,) = compiled(lambda a, kind=kind: a.astype(kind), specs, STOCHASTIC).run([x])
        seen = np.unique(drawn.astype(np.float64))
        np.testing.assert_allclose(seen, [low, low + step], rtol=1e-12)
        assert abs(drawn.astype(np.float64).mean() - value) < 0.02 * step


def test_numbers_of_the_type_and_infinities_stay() -> None:
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    (found,) = compiled(lambda a: a * np.float16(1), [ipu.TensorSpec((65536,), np.float16)], STOCHASTIC).run([x])
    np.testing.assert_array_equal(found, x)


def test_rounds_of_loops_and_calls_have_noise_of_their_own() -> None:
    @ipu.outlined
    def step(x: Any) -> Any:
        return x + np.float16(2.0**-12)

    def counted(x: Any) -> Any:
        return ipu.fori_loop(0, 64, lambda i, a: step(a), x)

    def conditional(x: Any) -> Any:
        return ipu.while_loop(lambda s: s[0] < 64, lambda s: (s[0] + 1, s[1] + np.float16(2.0**-12)), (np.int32(0), x))[
            1
        ]

    for loop in (counted, conditional, lambda x: step(step(x)) * np.float16(1)):
        (found,) = same_in_every_executor(loop, [F16], STOCHASTIC, [ONES])
        assert len(np.unique(found)) > 1
    many = compiled(counted, [ipu.TensorSpec((1000,), np.float16)], STOCHASTIC)
    (sums,) = many.run([np.ones(1000, np.float16)])
    assert abs(sums.astype(np.float64).mean() - (1 + 64 * 2.0**-12)) < 2e-4, "to the nearest, all of them stay 1"
    (nearest,) = compiled(counted, [F16], None).run([ONES])
    assert (nearest == 1).all()


def test_a_seed_decides_and_a_session_begins_anew() -> None:
    specs, x = [ipu.TensorSpec((400,), np.float32)], np.full(400, 0.1, np.float32)

    def draws(seed: int) -> Any:
        exe = compiled(lambda a: a.astype(np.float16), specs, {"rounding": "stochastic", "seed": seed})
        return [exe.session().run("main", x) for _ in range(2)]

    first, again = draws(1)
    np.testing.assert_array_equal(first, again)
    assert (first != draws(2)[0]).any()


@pytest.mark.parametrize("rounding", ["stochastic", "identical"])
def test_replicas_agree_where_they_have_one_value(rounding: str) -> None:
    def main(x: Any) -> Any:
        own = x + ipu.replica_index().astype(np.float32) * np.float32(0)
        return x.astype(np.float16), own.astype(np.float16)

    target = ipu.Target(tiles_per_ipu=2, ipus=4, replicas=4)
    exe = ipu.compile(
        main, args=[ipu.TensorSpec((300,), np.float32)], float_modes={"rounding": rounding}, target=target
    )
    one, each = exe.run([np.full(300, 0.1, np.float32)])
    assert one.shape == (300,) and each.shape == (4, 300) and len(np.unique(one)) == 2
    apart = [(each[a] != each[b]).any() for a in range(4) for b in range(a)]
    assert all(apart) if rounding == "stochastic" else len(np.unique(each)) == 1


def test_a_pipeline_rounds_alike_on_both_executors() -> None:
    random = np.random.default_rng(0)
    w1, w2 = ((random.standard_normal((6, 6)) / 3).astype(np.float16) for _ in range(2))
    x, y = (random.standard_normal((4, 3, 6)).astype(np.float16) for _ in range(2))

    def last(p: Any, h: Any, y: Any) -> Any:
        return ((h @ p - y).astype(np.float32) ** 2).mean()

    pipe = ipu.pipeline([lambda p, x: np.tanh(x @ p), last], 4)

    def train(a: Any, b: Any, x: Any, y: Any) -> Any:
        return pipe.value_and_grad([a, b], [x, y])

    target = ipu.Target(tiles_per_ipu=4, ipus=2)
    inputs = [w1, w2, x, y]
    fast, slow = (ipu.compile(train, args=inputs, target=target, float_modes=STOCHASTIC) for _ in range(2))
    _, *slopes = fast.run(inputs)
    for one, same in zip(slopes, slow.run_per_tile(inputs)[1:], strict=True):
        np.testing.assert_array_equal(one, same)


EXCEPTIONS = {
    "inv": (-ONES, ONES, "no result.*math.sqrt"),
    "div0": (ONES, ONES * 0, "by zero.*arith.divf"),
    "oflo": (ONES, ONES * 50, "too large.*math.exp"),
}


@pytest.mark.parametrize("exception", EXCEPTIONS)
@pytest.mark.parametrize("kernels", ["never", "always"])
def test_exceptions_name_the_operation_and_its_line(exception: str, kernels: str) -> None:
    def main(x: Any, y: Any) -> Any:
        return (x @ np.ones((9, 9), np.float16)) / y + np.sqrt(x) * np.exp(y)

    for asked in EXCEPTIONS:
        exe = compiled(main, [F16, F16], {"exceptions": (asked,)}, kernels=kernels)
        *inputs, text = EXCEPTIONS[exception]
        for run in (exe.run, exe.run_per_tile):
            run([ONES, ONES])
            if asked == exception:
                with pytest.raises(RunError, match=rf"{text} at test_float_modes.py:\d+"):
                    run(inputs)
            else:
                run(inputs)


def test_a_sum_that_is_too_large_is_an_overflow() -> None:
    def main(x: Any) -> Any:
        return np.sum(x, axis=1)

    exe = compiled(main, [ipu.TensorSpec((4, 8), np.float32)], {"exceptions": "oflo"})
    for run in (exe.run, exe.run_per_tile):
        run([np.ones((4, 8), np.float32)])
        with pytest.raises(RunError, match="too large"):
            run([np.full((4, 8), 3e38, np.float32)])


def test_what_is_off_leaves_the_program_as_it_was() -> None:
    def main(x: Any) -> Any:
        return np.exp(x) * x

    plain = compiled(main, [F16], None)
    off = compiled(main, [F16], {"rounding": "nearest", "exceptions": ()})
    assert plain.source() == off.source() and plain.mlir() == off.mlir()


def test_modes_take_no_cycles_of_vertices() -> None:
    def main(x: Any) -> Any:
        return 1 / (1 + np.exp(-x)) * x  # a sigmoid is one operation of the machine, also where it rounds at random

    def cycles(rows: int, modes: Any) -> int:
        steps = compiled(main, [ipu.TensorSpec((rows, 16), np.float16)], modes).profile().execution.steps
        return sum(step.compute for step in steps)

    more = [cycles(rows, {**STOCHASTIC, "overflow": "clip"}) - cycles(rows, None) for rows in (30, 3000)]
    assert more[0] == more[1] < 500, "only that the key is counted on"


def test_modes_that_there_are_not() -> None:
    with pytest.raises(PipelineError, match="'rounding' of pass 'ipu-set-float-modes' takes"):
        compiled(lambda x: x, [F16], {"rounding": "up"})
    with pytest.raises(CompileError, match="no exception 'inexact' of floats; there are inv, div0, oflo"):
        compiled(lambda x: x, [F16], {"exceptions": ("inexact",)})
    with pytest.raises(CompileError, match="give float_modes as options"):
        ipu.compile("func.func @main() { return }", pipeline="ipu-compile", float_modes=STOCHASTIC)
