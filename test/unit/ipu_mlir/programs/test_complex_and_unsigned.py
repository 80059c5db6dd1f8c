"""Programs know the parts of complex numbers and the bits of unsigned ones; users have their own arrays everywhere."""

import numpy as np
import pytest

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=4)
TWO = ipu.Target(tiles_per_ipu=4, replicas=2)
VALUES = {"complex": np.array([1 + 2j, 3j], np.complex64), "unsigned": np.array([250, 1], np.uint8)}


@pytest.fixture(params=VALUES)
def x(request):
    return VALUES[request.param]


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


def test_variables_of_sessions_and_of_functions(x, tmp_path):
    v = ipu.Variable(x, name="v")

    def square(y):
        v.assign(v.value * y)
        return v.value

    exe = ipu.compile(square, args=[x], target=SMALL)
    session = exe.session()
    same(session(x), x * x)
    same(session["v"], x * x)
    session["v"] = x + x
    same(session["v"], x + x)
    session.save(tmp_path / "state.npz")
    other = exe.session()
    other.load(tmp_path / "state.npz")
    same(other["v"], x + x)
    ipu.function(square, target=SMALL)(x)
    same(v.value, x * x)


def test_elements_of_queues(x):
    feed, log = ipu.Infeed(lambda: iter([x, x + x]), name="feed"), ipu.Outfeed(name="log")
    session = ipu.compile(lambda: log.enqueue(feed.dequeue() * x), args=(), target=SMALL).session()
    session(), session()
    same(session.read("log"), np.stack([x * x, (x + x) * x]))
    session.feed("feed", [x])
    session()
    same(next(session.elements("log")), x * x)


def test_rows_of_remote_buffers(x):
    rows = ipu.RemoteBuffer(np.stack([x, x]), name="rows")
    session = ipu.compile(lambda i: rows.store(i, rows.load(i) * x), args=(np.int32(0),), target=SMALL).session()
    session(np.int32(1))
    same(session["rows"], np.stack([x, x * x]))
    session["rows"] = np.stack([x + x, x])
    same(session["rows"], np.stack([x + x, x]))


def test_values_of_replicas(x):
    v = ipu.Variable(x, name="v")

    def step(y):
        v.assign(v.value * y)
        return y * x

    session = ipu.compile(step, args=(ipu.per_replica(x),), target=TWO).session()
    each = np.stack([x, x + x])
    same(session(each), each * x)
    same(session["v"], each * x)


def test_another_complex_type_is_named():
    v = ipu.Variable(VALUES["complex"], name="v")
    session = ipu.compile(lambda: v.assign(v.value * 2), args=(), target=SMALL).session()
    with pytest.raises(ipu.RunError, match=r"complex128, expected complex64; convert them with .astype\('complex64'\)"):
        session["v"] = np.ones(2, np.complex128)
