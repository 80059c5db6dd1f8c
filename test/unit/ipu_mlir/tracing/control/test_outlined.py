"""Functions whose code stands in the program once, in both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
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


def test_variables_are_handed_to_functions_and_back():
    """Also those of functions inside, that are only assigned, or in a branch; functions on others are alike."""
    total, last = ipu.Variable(np.zeros((8, 8), np.float32), name="total"), ipu.Variable(ipu.TensorSpec((8, 8)))
    others = [ipu.Variable(np.full((8, 8), n, np.float32), name=f"other{n}") for n in range(2)]

    @ipu.outlined
    def inner(x):
        total.assign(total.value + x)
        return x + 1

    @ipu.outlined
    def outer(x):
        last.assign(x)
        return inner(ipu.cond(x[0, 0] > 0, lambda: inner(x), lambda: x))

    def grow(variable):
        @ipu.outlined
        def grown(x):
            variable.assign(variable.value * x)

        return grown

    def main(x):
        for other in others:
            grow(other)(x)
        return ipu.fori_loop(0, 3, lambda i, c: outer(c), outer(x))

    exe = ipu.compile(main, args=(X,), target=TARGET)
    assert sorted(functions_in(exe)) == ["grown", "inner", "main", "outer"]
    session = exe.session()
    x, expected, sums, first = X, X, np.zeros((8, 8), np.float32), None
    for _ in range(2):
        found = session(x)
        for _ in range(4):
            before = expected
            if expected[0, 0] > 0:
                sums, expected = sums + expected, expected + 1
            sums, expected = sums + expected, expected + 1
        if first is None:
            first = np.asarray(found)
            np.testing.assert_allclose(exe.run_per_tile([X])[0], first, rtol=1e-6)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_allclose(session[last.name], before, rtol=1e-5)
        x = expected
    np.testing.assert_allclose(session["total"], sums, rtol=1e-5)
    np.testing.assert_allclose(session["other1"], X * first, rtol=1e-5)


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


def test_a_hundred_calls_are_one_body_and_a_hundred_calls():
    once = ipu.outlined(layer)

    def stack(count):
        def main(x, w):
            for _ in range(count):
                x = once(x, w) / 8
            return x

        return check(main, np.abs(X), np.abs(X))

    few, many = stack(2), stack(100)
    assert few.source().count("# linalg.matmul") == many.source().count("# linalg.matmul") == 1
    assert functions_in(many) == ["main", "layer"]
    lines = [len(exe.source().splitlines()) for exe in (few, many)]
    assert lines[1] - lines[0] < 98 * 5  # a call and the division, a comment for each
    assert many.mlir("l3").count("linalg.matmul") == 1


def test_each_call_has_its_own_place_in_loops_and_branches():
    once = ipu.outlined(layer)

    def main(x, w, n):
        y = ipu.cond(n > 2, lambda: once(x, w), lambda: once(w, x) * 2)
        z = ipu.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, once(c[1], w) / 8), (np.int32(0), y))[1]
        return ipu.fori_loop(0, 3, lambda i, c: ipu.cond(i == 1, lambda: once(c.T, x) / 8, lambda: c), z)

    def expected(x, w, n):
        y = layer(x, w) if n > 2 else layer(w, x) * 2
        for _ in range(n):
            y = layer(y, w) / 8
        return layer(y.T, x) / 8

    exe = ipu.compile(main, args=[X, X + 1, np.int32(0)], target=TARGET)
    assert functions_in(exe) == ["main", "layer"] and exe.source().count("# linalg.matmul") == 1
    for n in map(np.int32, (1, 4)):
        for found in (exe(X, X + 1, n), exe.run_per_tile([X, X + 1, n])[0]):
            np.testing.assert_allclose(found, expected(X, X + 1, n), rtol=1e-4)


@pytest.mark.parametrize("sum_", [False, True])
def test_replicas_share_a_function_that_takes_what_differs_and_what_does_not(sum_):
    """What differs in one call may differ in all; a sum over replicas is one value for all of them."""

    @ipu.outlined
    def mixed(x, w):
        return (ipu.all_reduce(x) if sum_ else x) @ w + 1

    def main(x, w):
        return mixed(mixed(x, w), w), mixed(w, w)

    target = ipu.Target(tiles_per_ipu=4, replicas=2)
    x = np.stack([X, X + 1])
    exe = ipu.compile(main, args=[ipu.per_replica(X), X], target=target)
    own, common = exe(x, X)
    tiles = exe.run_per_tile([x, X])

    def expected(x):
        return (x.sum(0) if sum_ else x) @ X + 1

    np.testing.assert_allclose(own, expected(np.stack([expected(x)] * 2) if sum_ else expected(x)), rtol=1e-4)
    np.testing.assert_allclose(common, expected(np.stack([X, X])), rtol=1e-4)
    for a, b in zip((own, common), tiles, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    assert functions_in(exe) == ["main", "mixed"] and exe.source().count("    def ") == 2


def test_branches_in_a_function_are_counted_over_its_calls():
    once = ipu.outlined(lambda x: ipu.cond(x[0, 0] > 0, lambda: x * 2, lambda: x + 1))
    exe = check(lambda x: once(once(x)), X)
    profile = exe.profile([X])
    assert profile.execution.measured and not profile.execution.unknown_counts
