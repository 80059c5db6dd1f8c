"""Branches on traced values: as on arrays, in both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 8


def _of_both(x, flag):
    y = x + 1
    found = ipu.cond(flag, lambda a, b: {"s": a + b["y"], "n": 1}, lambda a, b: {"n": 2, "s": a - b["y"]}, x, {"y": y})
    return [found["s"], np.sum(found["n"]).astype(np.int32)]


def _nested(x, k):
    return ipu.switch(
        k,
        [
            lambda a: ipu.cond(np.sum(a) > 1, np.sin, np.cos, a),
            lambda a: ipu.fori_loop(0, k, lambda i, c: c * 2, a),
            lambda a: x,
        ],
        x * 2,
    )


def _numbers_and_nothing(x):
    pair, nothing = ipu.cond(x[0, 1] > 0, lambda: ((x, np.float32(1)), None), lambda: ((X, 0.5), None))
    assert nothing is None
    return list(pair)


PROGRAMS = [
    *((_of_both, (X, np.bool_(flag))) for flag in (True, False)),
    (lambda x, n: ipu.cond(n, lambda: x, lambda: -x), (X, np.int32(7))),
    (lambda x, n: ipu.cond(n, lambda: x, lambda: -x), (X, np.float32(0))),
    *((_nested, (X, np.int32(k))) for k in (-3, 0, 1, 2, 9)),
    (lambda x, k: ipu.switch(k, [lambda a: a * 3], x), (X, np.int32(2))),
    (_numbers_and_nothing, (X,)),
]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_as_on_arrays(agrees, number):
    function, arrays = PROGRAMS[number]
    agrees(function, *arrays, tolerance=1e-6, per_tile=True)


def test_a_branch_that_is_known_is_the_only_one_traced():
    text = str(ipu.function(lambda x: ipu.cond(x.shape[0] > 2, lambda: x + 1, lambda: x.no_such_thing)).trace(X))
    assert "scf.if" not in text
    assert "scf.index_switch" not in str(ipu.function(lambda x: ipu.switch(1, [np.sin, np.cos], x)).trace(X))


def test_the_branches_become_one_op():
    text = str(ipu.function(_nested).trace(X, np.int32(1)))
    assert text.count("scf.index_switch") == 1 and text.count("scf.if") == 1 and "execute_region" not in text


BAD = [
    (
        lambda x: ipu.cond(x > 0, lambda: x, lambda: x),
        ValueError,
        r"cond on bool\[3, 4\]: one number decides; use np.where",
    ),
    (lambda x: ipu.switch(x, [lambda: x] * 2), ValueError, r"switch on float32\[3, 4\]: one number decides"),
    (lambda x: ipu.switch(x[0, 0], [lambda: x] * 2), TypeError, r"an index is an integer; use astype\(np.int32\)"),
    (lambda x: ipu.switch(0, []), ValueError, "needs at least one branch"),
    (lambda x: ipu.cond(X > 0, lambda: x, lambda: x), ValueError, r"cond on an array of shape \(3, 4\)"),
    (
        lambda x: ipu.cond(x[0, 0] > 0, lambda: {"a": x}, lambda: {"a": x.astype(np.float16)}),
        TypeError,
        r"true_fun gives result\['a'\] as float32\[3, 4\], false_fun as float16\[3, 4\]; use astype\(np.float32\)",
    ),
    (
        lambda x: ipu.switch(np.argmax(x), [lambda: x, lambda: x, lambda: x[0]]),
        ValueError,
        r"branch 0 gives result as float32\[3, 4\], branch 2 as float32\[4\]; both have to give one shape",
    ),
    (
        lambda x: ipu.cond(x[0, 0] > 0, lambda: (x, x), lambda: (x,)),
        TypeError,
        "result was a tuple of 2, and becomes a tuple of 1",
    ),
    (
        lambda x: ipu.cond(x[0, 0] > 0, lambda: (x, x), lambda: (x, None)),
        TypeError,
        r"result\[1\] was a tensor, and becomes None",
    ),
    (
        lambda x: ipu.cond(x[0, 0] > 0, lambda: 1.5, lambda: np.argmax(x)),
        TypeError,
        r"float32\[\].*use astype\(np.int64\)",
    ),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_refused(number):
    function, kind, message = BAD[number]
    with pytest.raises(kind, match=message) as caught:
        ipu.function(function).trace(X)
    assert isinstance(caught.value, ipu.IpuError) and caught.value.place.file == __file__
