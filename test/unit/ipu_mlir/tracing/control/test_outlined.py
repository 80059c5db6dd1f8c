"""Functions whose code stands in the program once, in both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(name="small", tiles_per_ipu=4)
X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)


def layer(x, w, scale=1.0):
    return np.maximum(x @ w, 0) * scale + 1


def stacked(layer):
    def main(x, a, b):
        y = layer(layer(x, a), b)

        def body(i, c):
            return layer(c, a)

        return layer(ipu.fori_loop(0, 2, body, y), b)

    return main


def functions_in(exe):
    ops = exe.module("l3").regions[0].blocks[0].operations
    return [op.name.value for op in ops if op.operation.name == "func.func"]


def check(main, *arrays, target=TARGET):
    """Against NumPy and tile by tile; gives the program."""
    exe = ipu.compile(main, args=arrays, target=target)
    wanted = main(*arrays)
    for found in (exe(*arrays), exe.run_per_tile(list(arrays))):
        flat = found if isinstance(found, list | tuple) else [found]
        for a, b in zip(flat, wanted if isinstance(wanted, list | tuple) else [wanted], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return exe


def test_code_stands_once_and_counts_once():
    once = check(stacked(ipu.outlined(layer)), X, X + 1, X - 1)
    plain = check(stacked(layer), X, X + 1, X - 1)
    assert functions_in(once) == ["main", "layer"] and functions_in(plain) == ["main"]
    profile, other = once.profile(), plain.profile()
    code, more = (each.compilation.memory.categories for each in (profile, other))
    for category in ("control_code", "exchange_code", "vertex_state"):
        (least, *_), (most, *_) = getattr(code, category), getattr(more, category)
        assert least[0] * 1.5 < most[0], category
    assert len(profile.compilation.steps) < len(other.compilation.steps) / 2
    assert profile.execution.cycles.compute == pytest.approx(other.execution.cycles.compute, rel=0.25)


def test_arguments_of_other_shapes_and_constants_are_other_functions():
    once = ipu.outlined(layer)

    def main(x):
        return once(x, x), once(x[:4], x), once(x[4:], x), once(x, x, scale=2.0)

    assert len(functions_in(check(main, X))) == 4


def test_values_from_around_are_arguments_and_constants_are_not():
    weights = np.float32([[2, 0], [0, 3]])

    def main(x, y):
        @ipu.outlined
        def near(z):
            return {"sum": z @ weights + y, "kept": (z, y)}

        first, second = near(x), near(x + 1)
        return first["sum"], second["sum"], second["kept"][0], first["kept"][1]

    exe = check(main, X[:4, :2], X[4:, :2])
    (called,) = [op for op in exe.module("l0").operation.regions[0].blocks[0].operations if op.name.value == "near"]
    assert len(called.type.inputs) == 2
    assert functions_in(exe) == ["main", "near"]


def test_functions_that_call_others_and_views_that_they_return():
    inner = ipu.outlined(lambda x: x.T[::2])

    @ipu.outlined
    def outer(x):
        return inner(x).reshape(-1), x[1], x

    def main(x):
        return (*outer(x), *outer(x * 2))

    assert sorted(functions_in(check(main, X))) == ["_lambda_", "main", "outer"]


def test_what_has_state_is_inlined():
    total = ipu.Variable(np.zeros((8, 8), np.float32), name="total")

    @ipu.outlined
    def add(x):
        total.assign(total.value + x)
        return ipu.fifo(x, 1)

    exe = ipu.compile(lambda x: (add(x), add(x * 2)), args=(X,), target=TARGET)
    session = exe.session()
    session(X)
    np.testing.assert_array_equal(list(session(X)), [X, X * 2])
    np.testing.assert_allclose(session["total"], 6 * X, rtol=1e-6)
    assert len(functions_in(exe)) == 1


def test_branches_in_a_function_are_counted_over_its_calls():
    once = ipu.outlined(lambda x: ipu.cond(x[0, 0] > 0, lambda: x * 2, lambda: x + 1))
    exe = check(lambda x: once(once(x)), X)
    profile = exe.profile([X])
    assert profile.execution.measured and not profile.execution.unknown_counts
