"""``ipu.numpy``: arrays outside of traced functions follow the rules of traced tensors."""

import copy
import pickle

import numpy as np
import pytest

import ipu_mlir as ipu
import ipu_mlir.numpy as inp

SMALL = ipu.Target(tiles_per_ipu=2)
X = inp.asarray([1.5, -2, 3.25])
N = np.array([1, 2, 4], np.int32)

FUNCTIONS = {
    "idioms": lambda x, n: (x + np.zeros(3), x / np.sqrt(64), x * n, x * np.arange(3.0), np.sum(x), x.mean()),
    "functions": lambda x, n: (np.interp(x, np.arange(3.0), np.ones(3)), np.concatenate([x, np.ones(2)]), np.cov(x, x)),
    "where": lambda x, n: (np.where(x > 0, x, np.zeros(3)), np.clip(x, np.float64(-1), 1.0), x @ np.eye(3)),
    "at": lambda x, n: (
        x.at[0].set(7),
        x.at[n % 3].add(np.float64(2)),
        x.at[1:].multiply(2),
        x.at[0].min(0),
        x.at[0].max(9),
    ),
    "made": lambda x, n: (inp.zeros(3) + x, inp.ones((2, 3)).at[0].set(x), inp.linspace(0, 1, 3) * x, inp.arange(3)),
    "linalg": lambda x, n: (inp.linalg.norm(x), inp.fft.rfft(x), inp.stack([x, x]), inp.split(x, 3)[1]),
    "more at": lambda x, n: (
        x.at[n % 3].subtract(0.5),
        n.at[0].subtract(7),
        x.at[n % 2].divide(np.float32(4)),
        x.at[1:].power(2),
    ),
    "lists": lambda x, n: (
        np.add(x, [1, 2, 3]),
        (1, 2, 3) * x,
        n + np.float32(1),
        inp.array([x, x]),
        inp.asarray([x[0], 1.5]),
    ),
    "elements": lambda x, n: (x[0], *x, sum(n), x[0] * np.ones(2), x.argmax(), round(x[1] + 0.25), round(x, 1)),
    "methods": lambda x, n: (x.clip(0), x.take([0, 2]), x.dot(np.ones(3)), inp.add.reduce(x), inp.add.outer(x, n)),
    "wide arrays": lambda x, n: (
        np.stack([x, np.broadcast_to(0.5, (3,))]),
        np.vstack([x, np.ones((1, 3))]),
        np.column_stack([x, np.ones(3)]),
        np.vander(x),
        np.vander(n),
        np.polyval(x, 2.0),
        x.astype(np.float64) @ np.full(3, 1j),
    ),
    "unsigned": lambda x, n: (n.astype(np.uint8).at[n % 3].add(n), n.at[0].set(np.uint8(3))),
    "grown": lambda x, n: _grown(x, n),
    "integers": lambda x, n: (np.sum(n), n + 1, np.take(x, n % 3), x[n % 3]),
}


def _grown(x, n):
    before = x
    x += np.ones(3)
    n *= 2
    return before, x, n


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gives_the_same_traced_and_not(name):
    n = inp.asarray(N)
    eager = FUNCTIONS[name](X, n)
    traced = ipu.compile(FUNCTIONS[name], args=[X, N], target=SMALL)(X, N)
    for one, other in zip(eager, traced, strict=True):
        assert isinstance(one, inp.ndarray)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
        assert one.dtype == other.dtype and one.shape == other.shape


def test_what_is_made_is_float32_unless_told_otherwise():
    made = [
        inp.zeros(2),
        inp.ones(2),
        inp.full(2, 0.5),
        inp.eye(2),
        inp.linspace(0, 1, 2),
        inp.asarray([0.5]),
        inp.array(1.0),
    ]
    assert {each.dtype for each in made} == {np.dtype(np.float32)}
    assert inp.zeros(2, dtype=np.float64).dtype == inp.asarray(np.zeros(2)).dtype == np.float64
    assert inp.arange(3).dtype == np.int64 and inp.exp(1j * inp.arange(2)).dtype == np.complex128
    with ipu.x64():
        assert inp.zeros(2).dtype == (X + np.zeros(3)).dtype == np.float64
    assert inp.pi == np.pi and inp.float32 is np.float32


WRITES = {
    lambda x: np.add(x, 1, out=np.zeros(3, np.float32)): "out=",
    lambda x: np.sum(x, out=np.zeros((), np.float32)): "out=",
    lambda x: np.add(x, 1, where=x > 0): "where= leaves elements without a value",
    lambda x: np.add.at(x, 0, 1): "nothing is written in place",
    lambda x: x.fill(0): "fill of an array of ipu.numpy: nothing is written in place",
    lambda x: x.sort(): r"np.sort\(x\) gives the sorted tensor",
    lambda x: np.put(x, 0, 1): "np.put: nothing is written in place",
    lambda x: np.copyto(x, 1): "np.copyto: nothing is written in place",
    lambda x: x.flat.__setitem__(0, 1): "read-only",
    lambda x: np.random.default_rng(0).shuffle(x): "read-only",
    lambda x: pickle.loads(pickle.dumps(x)).flat.__setitem__(0, 1): "read-only",
    lambda x: copy.copy(x).flat.__setitem__(0, 1): "read-only",
    lambda x: setattr(x, "shape", (3, 1)): "shape of an array of ipu.numpy stays as it is",
    lambda x: setattr(x, "dtype", np.int32): "dtype of an array of ipu.numpy stays as it is",
}


def test_arrays_of_others_are_copied():
    theirs = np.zeros(3, np.float32)
    ours = [inp.asarray(theirs), inp.array(theirs), inp.reshape(theirs, (3, 1)), *inp.atleast_1d(theirs, theirs)]
    theirs[:] = 5
    assert [each.sum() for each in ours] == [0] * 5
    assert inp.r_[0.5, 1].dtype == np.float32 and inp.result_type(X, N) == np.float32
    assert X.view(np.int32).dtype == np.int32 and type(X.view(np.ndarray)) is np.ndarray


def test_nothing_is_written_in_place():
    with pytest.raises(TypeError, match=r"use x = x.at\[index\].set\(value\)"):
        X[0] = 1
    before = X.tolist()
    for change, said in WRITES.items():
        with pytest.raises((TypeError, ValueError), match=said):
            change(X)
    assert X.tolist() == before
    with pytest.raises(TypeError, match=r"values of another kind; use astype\(np.int32\)"):
        inp.asarray(N).at[0].set(0.5)
    with pytest.raises(TypeError, match=r"at\[\].divide of int32: quotients are floats"):
        inp.asarray(N).at[0].divide(2)
    with pytest.raises(TypeError, match="values of another kind"):
        X.at[0].set(None)
    with pytest.raises(TypeError, match=r"At.set\(\) got an unexpected keyword argument 'mode'"):
        ipu.compile(lambda x: x.at[0].set(1, mode="drop"), args=[X])
    with pytest.raises(AttributeError, match="numpy has no soft"):
        inp.soft  # noqa: B018
    assert X.at[0].get() == np.float32(1.5) and X[0] == 1.5


def test_a_known_index_outside_is_an_error_on_both_sides():
    for change in (lambda x: x.at[7].set(1), lambda x: x.at[7].add(1), lambda x: x.at[7].get()):
        with pytest.raises(IndexError, match=r"7 is out of (bounds|range)"):
            change(ipu.numpy.arange(4.0))
        with pytest.raises(IndexError, match="7 is out of range"):
            ipu.compile(change, args=[ipu.TensorSpec((4,))])
