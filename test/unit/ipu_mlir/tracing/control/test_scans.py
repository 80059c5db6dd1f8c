"""Loops over the first axis: as on arrays, in both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.arange(20, dtype=np.float32).reshape(5, 4) / 8
W = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)


def _cumulative(x, reverse=False):
    last, sums = ipu.scan(lambda carry, row: (carry + row, carry * row), x[0] * 0, x, reverse=reverse)
    return [last, sums]


def _recurrent(x, w):
    def cell(state, inputs):
        new = np.tanh(inputs["x"] @ w + state["h"] * inputs["gate"])
        return {"h": new}, (new, {"max": np.max(new)}, None)

    state, (states, found, nothing) = ipu.scan(cell, {"h": np.zeros(4, np.float32)}, {"x": x, "gate": x[:, 0]})
    assert nothing is None
    return [state["h"], states, found["max"]]


def _counted(x):
    carry, ys = ipu.scan(lambda c, _: (c * np.float32(0.5), 2), x, None, length=3)
    return [carry, ys.astype(np.int32)]


def _no_results(x):
    carry, nothing = ipu.scan(lambda c, row: (c + np.sum(row), None), 0.0, x)
    assert nothing is None
    return np.sum(carry).astype(np.float32)


def _nested(x):
    def outer(carry, row):
        inner, parts = ipu.scan(lambda c, number: (c + number, c * 2), carry, row)
        return inner, np.stack([np.max(parts), np.min(parts)])

    return list(ipu.scan(outer, np.float32(1), x))


def _linear_recurrence(a, b):
    """h = a * h + b, by an associative operation on pairs."""
    return list(ipu.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b)))


PROGRAMS = [
    (_cumulative, (X,)),
    (lambda x: _cumulative(x, reverse=True), (X,)),
    (_recurrent, (X, W)),
    (_counted, (X,)),
    (_no_results, (X,)),
    (_nested, (X,)),
    (lambda x: ipu.map(lambda row: row * np.max(row), x), (X,)),
    (
        lambda x: list(
            ipu.map(lambda p: (p["a"] * p["b"], np.sum(p["a"])), {"a": x, "b": np.arange(5) * 0.5}).__iter__()
        ),
        (X.astype("f8"),),
    ),
    *((lambda x, n=n: ipu.associative_scan(np.add, x[:n]), (np.resize(X, (9, 2)),)) for n in range(1, 10)),
    (lambda x: ipu.associative_scan(np.maximum, x, axis=1, reverse=True), (X,)),
    (lambda x: ipu.associative_scan(np.add, x, axis=-1), (X,)),
    (_linear_recurrence, (X, X + 1)),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_as_on_arrays(agrees, number):
    function, arrays = PROGRAMS[number]
    agrees(function, *arrays, tolerance=1e-6, per_tile=True)


@pytest.mark.parametrize("size", range(1, 18))
@pytest.mark.parametrize("reverse", [False, True])
def test_an_associative_scan_keeps_the_order(size, reverse):
    """Products of matrices do not commute."""
    matrices = np.random.default_rng(size).integers(-2, 3, (size, 2, 2))
    found = ipu.associative_scan(np.matmul, matrices, reverse=reverse)
    expected, product = [], np.eye(2, dtype=np.int64)
    for matrix in matrices[:: -1 if reverse else 1]:
        product = product @ matrix
        expected.append(product)
    np.testing.assert_array_equal(found, expected[:: -1 if reverse else 1])


def test_a_scan_is_one_for():
    text = str(ipu.function(_recurrent).trace(X, W))
    assert text.count("scf.for") == 1 and "execute_region" not in text


BAD = [
    (
        lambda x: ipu.scan(lambda c, r: c, x[0], x),
        TypeError,
        "scan: f gives a Tensor; give the next carry and a result",
    ),
    (lambda x: ipu.scan(lambda c, r: (c, r, r), x[0], x), TypeError, "scan: f gives 3 values"),
    (lambda x: ipu.scan(lambda c, r: (c, r), x[0]), TypeError, "scan over nothing: give length="),
    (lambda x: ipu.scan(lambda c, r: (c, r), x[0], None, length=0), ValueError, "scan of 0 rounds: its results would"),
    (lambda x: ipu.scan(lambda c, r: (c, r), x[0], x, length=3), ValueError, "xs has 5 elements along.*length says 3"),
    (lambda x: ipu.scan(lambda c, r: (c, r), x[0], (x, x[1:])), ValueError, r"xs\[1\] has 4 elements.*xs\[0\] says 5"),
    (
        lambda x: ipu.scan(lambda c, r: (c, r), x[0], (x, x[0, 0])),
        ValueError,
        r"xs\[1\] has no first axis.*float32\[\]",
    ),
    (
        lambda x: ipu.scan(lambda c, r: (np.sum(c), r), x[0], x),
        ValueError,
        r"scan: carry comes in as float32\[4\] and the body gives float32\[\]; all iterations have one shape",
    ),
    (lambda x: ipu.associative_scan(np.add, x[0, 0]), ValueError, "there is no axis to go along in elems"),
    (lambda x: ipu.associative_scan(lambda a, b: a[:1], x), ValueError, "fn gives elems of shape"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_refused(number):
    function, kind, message = BAD[number]
    with pytest.raises(kind, match=message) as caught:
        ipu.function(function).trace(X)
    assert isinstance(caught.value, ipu.IpuError) and caught.value.place.file == __file__


def test_a_value_and_its_gradient_share_the_forward_loop():
    def both(x, w):
        value, back = ipu.vjp(lambda w: ipu.scan(lambda h, row: (np.tanh(row @ w + h), h), x[0] * 0, x)[0], w)
        return np.cos(value), back(np.sin(value))[0]

    executable = ipu.compile(both, args=[X, W], target=ipu.Target(tiles_per_ipu=4))
    assert executable.mlir().count("scf.for") == 2
    np.testing.assert_allclose(executable(X, W)[1], executable.run_per_tile([X, W])[1], rtol=1e-5)
