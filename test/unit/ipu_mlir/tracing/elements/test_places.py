"""Elements at places that are known only when the program runs: read and written as NumPy does, in both executors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=3)
X = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
COMBINE: dict[str, Callable[..., Any]] = {
    "set": lambda old, new: new,
    "add": np.add,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def run(function: Callable[..., Any], *arrays: Any) -> np.ndarray:
    """The result of both executors, which agree."""
    exe = ipu.compile(function, args=arrays, target=SMALL)
    arrays = [np.asarray(array) for array in arrays]
    (fast,), (exact,) = exe.run(arrays), exe.run_per_tile(arrays)
    np.testing.assert_array_equal(fast, exact, strict=True)
    return fast


def places(key: Any) -> np.ndarray:
    """The number of each element of ``X`` that NumPy selects; -1 for those outside, in the shape of the result.

    NumPy is asked about a larger array around ``X``, in which every index that a test has lies inside.
    """
    around = np.full([3 * size for size in X.shape], -1)
    around[tuple(slice(size) for size in X.shape)] = np.arange(X.size).reshape(X.shape)
    return around[key]


def nearest(key: Any) -> np.ndarray:
    """What ``X[key]`` is where integers outside are taken for the nearest."""

    def inside(entry: Any, size: int) -> Any:
        if isinstance(entry, slice) or entry is None:
            return entry
        entry = np.asarray(entry)
        return np.clip(np.where(entry < 0, entry + size, entry), 0, size - 1)[()]

    sizes = iter(X.shape)
    return X[tuple(inside(entry, 0 if entry is None else next(sizes)) for entry in key)]


@st.composite
def keys(draw: st.DrawFn, outside: bool) -> tuple[Any, ...]:
    """An index into ``X`` with an array in it at least."""
    picked = draw(st.sampled_from([(), (2,), (3, 1), (3, 2)]))
    entries: list[Any] = []
    for size in X.shape:
        kind = draw(st.sampled_from(["slice", "all", "integer", "array", "array", "none"]))
        if kind == "none":
            entries.append(None)
            kind = "all"
        numbers = st.integers(-2 * size, 2 * size - 1) if outside else st.integers(-size, size - 1)
        if kind == "all":
            entries.append(slice(None))
        elif kind == "slice":
            entries.append(draw(st.slices(size).filter(lambda each, size=size: range(size)[each])))
        elif kind == "integer":
            entries.append(np.int32(draw(numbers)))
        else:
            shape = tuple(draw(st.sampled_from([1, n])) for n in picked[draw(st.integers(0, len(picked))) :])
            entries.append(np.resize(draw(st.lists(numbers, min_size=6, max_size=6)), shape).astype(np.int32))
    return tuple(entries)


def traced(key: tuple[Any, ...], known: list[bool]) -> tuple[list[np.ndarray], Callable[[tuple[Any, ...]], Any]]:
    """The arrays and integers of ``key`` that are not ``known``, and what makes the index of them."""
    moved = [
        place
        for place, entry in enumerate(key)
        if isinstance(entry, np.ndarray | np.generic) and not known[place % len(known)]
    ]

    def remade(tensors: tuple[Any, ...]) -> Any:
        given = dict(zip(moved, tensors, strict=True))
        return tuple(given.get(place, entry) for place, entry in enumerate(key))

    return [np.asarray(key[place]) for place in moved], remade


SETTINGS = settings(
    max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@SETTINGS
@given(keys(outside=False), st.lists(st.booleans(), min_size=4, max_size=4))
def test_read_at_any_index(key, known):
    arrays, remade = traced(key, known)
    found = run(lambda x, *tensors: x[remade(tensors)] * 1, X, *arrays)
    np.testing.assert_array_equal(found, X[key], strict=True)


@SETTINGS
@given(keys(outside=True))
def test_read_outside(key):
    arrays, remade = traced(key, [False])
    found = run(lambda x, *tensors: x[remade(tensors)] * 1, X, *arrays)
    np.testing.assert_array_equal(found, nearest(key), strict=True)


@SETTINGS
@given(keys(outside=True), st.sampled_from(sorted(COMBINE)), st.data())
def test_write_at_any_index(key, how, data):
    """Also outside, and several times to one place."""
    sizes = iter(X.shape)
    counted = []  # as NumPy would have it in an array that is three times as large
    for entry in key:
        size = 0 if entry is None else next(sizes)
        if isinstance(entry, slice):
            counted.append(np.arange(size)[entry] if entry.step and entry.step < 0 else slice(*entry.indices(size)))
        else:
            counted.append(entry if entry is None else np.where(entry < 0, entry + size, entry)[()])
    at = places(_with_slices(key, counted))
    shape = data.draw(st.sampled_from([at.shape, at.shape[1:], tuple(1 for _ in at.shape), ()]))
    values = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 - 3).astype(np.float32)
    expected = X.ravel().copy()
    for place, value in zip(at.ravel(), np.broadcast_to(values, at.shape).ravel(), strict=True):
        if place >= 0:
            expected[place] = COMBINE[how](expected[place], value)
    arrays, remade = traced(key, [False])
    found = run(lambda x, v, *tensors: getattr(x.at[remade(tensors)], how)(v), X, values, *arrays)
    np.testing.assert_array_equal(found, expected.reshape(X.shape), strict=True)


def _with_slices(key: tuple[Any, ...], counted: list[Any]) -> Any:
    """``counted`` with backward slices as they are in a larger array."""
    found = []
    for entry, other in zip(key, counted, strict=True):
        if isinstance(entry, slice) and isinstance(other, np.ndarray):
            stop = int(other[-1]) + entry.step
            found.append(slice(int(other[0]), stop if stop >= 0 else None, entry.step))
        else:
            found.append(other)
    return tuple(found)


IDS, MORE = np.array([[2, 0], [1, -1]], np.int32), np.array([3, -4], np.int8)
AGREE = {
    "one number": (lambda x, i, j: x[i[1, 0]], IDS, MORE),
    "numbers beside slices": (lambda x, i, j: x[1, i[1, 0], ::-2, j[1]], IDS, MORE),
    "in a loop, at its counter": (
        lambda x, i, j: ipu.fori_loop(0, 4, lambda k, c: c + x[1, :, k] * x[0, :, 3 - k], x[0, :, 0]),
        IDS,
        MORE,
    ),
    "a list with a traced number": (lambda x, i, j: x[:, [0, i[0, 0], -1]], IDS, MORE),
    "unsigned": (lambda x, i, j: x[:, :, i], IDS.astype(np.uint8) % 4, MORE),
    "sorted by keys": (lambda x, i, j: np.take_along_axis(x, np.argmax(x, 2, keepdims=True), 2), IDS, MORE),
    "along an axis": (lambda x, i, j: np.take_along_axis(x[0], np.stack([i, i, i])[:, :, 0:1], -2), IDS, MORE),
    "along all": (lambda x, i, j: np.take_along_axis(x, np.ravel(i), None), IDS, MORE),
    "take": (lambda x, i, j: np.take(x, i, axis=1), IDS, MORE),
    "take flat": (lambda x, i, j: np.take(x, i), IDS * 30, MORE),
    "take and clip": (lambda x, i, j: np.take(x, j, axis=0, mode="clip"), IDS, MORE),
    "take and wrap": (lambda x, i, j: np.take(x, j, axis=0, mode="wrap"), IDS, MORE),
}


@pytest.mark.parametrize("name", AGREE)
def test_as_numpy(agrees, name):
    function, i, j = AGREE[name]
    agrees(lambda x, i, j: function(x, i, j) * 1, X, i, j, per_tile=True)


def _updates(at: Callable[..., Any]) -> dict[str, Any]:
    """What can be known while tracing, and masks; ``at`` changes as ``x.at`` does."""
    return {
        "window": at(
            (slice(None), slice(2, 0, -1), ..., slice(1, None, 2)), "add", np.arange(8).reshape(2, 4, 1) * 1.0
        ),
        "row": at((1, -1), "set", np.float32(7)),
        "array": at((slice(None), [0, 2, 0]), "multiply", 2),
        "mask": at(np.arange(6).reshape(2, 3) % 2 == 1, "set", -1),
        "all": at(..., "max", 50.5),
        "nothing": at((slice(None), np.zeros(3, np.bool_)), "set", 3),
    }


def test_updates_at_known_places():
    def on_array(key, how, values):
        found = X.copy()
        if how == "multiply":
            np.multiply.at(found, key, values)
        else:
            found[key] = COMBINE[how](found[key], values)
        return found

    for name, expected in _updates(on_array).items():
        found = run(lambda x, name=name: _updates(lambda key, how, v: getattr(x.at[key], how)(v))[name] * 1, X)
        np.testing.assert_array_equal(found, expected, err_msg=name)


def test_updates_where_a_mask_is_true():
    for how, combine in COMBINE.items():
        found = run(lambda x, how=how: getattr(x.at[x % 3 == 1], how)(2.5), X)
        np.testing.assert_array_equal(found, np.where(X % 3 == 1, combine(X, np.float32(2.5)), X))
    rows = np.array([[True, False, True], [False, False, True]])
    found = run(lambda x, m, v: x.at[m].set(v), X, rows, X[0, 0, 0])
    np.testing.assert_array_equal(found, np.where(rows[..., None, None], X[0, 0, 0], X))


def test_get_is_an_index():
    np.testing.assert_array_equal(run(lambda x, i: x.at[0, i].get(), X, IDS), X[0, IDS])


@pytest.mark.parametrize("start", [(0, 0), (1, -2), (5, 5), (-9, 2)], ids=str)
def test_slices_that_begin_anywhere(start):
    """A negative start counts from the end; the slice is moved to where it fits."""
    matrix = X[0, 0]
    begin = [min(max(s + n if s < 0 else s, 0), n - size) for s, n, size in zip(start, (4, 5), (2, 3), strict=True)]
    window = tuple(slice(b, b + size) for b, size in zip(begin, (2, 3), strict=True))
    starts = np.array(start, np.int32)
    found = run(lambda x, s: ipu.dynamic_slice(x, (s[0], s[1]), (2, 3)), matrix, starts)
    np.testing.assert_array_equal(found, matrix[window])
    np.testing.assert_array_equal(ipu.dynamic_slice(matrix, start, (2, 3)), matrix[window])
    np.testing.assert_array_equal(run(lambda x: ipu.dynamic_slice(x, start, (2, 3)) * 1, matrix), matrix[window])
    changed = matrix.copy()
    changed[window] = -1
    update = np.full((2, 3), -1, np.float32)
    found = run(lambda x, u, s: ipu.dynamic_update_slice(x, u, (s[0], s[1])), matrix, update, starts)
    np.testing.assert_array_equal(found, changed)
    np.testing.assert_array_equal(ipu.dynamic_update_slice(matrix, update, start), changed)


Z = (np.arange(12).reshape(3, 4) * (1 + 2j)).astype(np.complex64)
AT = np.array([1, -1], np.int32)


def _complex(z, i, at):
    """Complex elements, read and written, here and in what loops carry; ``at`` changes as ``z.at`` does."""
    last, products = ipu.scan(lambda carry, row: (carry + row, carry * row), z[0] * 0, z)
    return {
        "set": at(z, np.s_[1, ::-2], "set", 1j),
        "add": at(z, np.s_[:, i], "add", np.complex64(2 - 1j)),
        "mask": at(z, np.real(z) > 3, "set", 1j),
        "slice": ipu.dynamic_slice(z, (i[0], 1), (2, 2)),
        "update": ipu.dynamic_update_slice(z, z[:1, :2] * 1j, (i[0], i[0])),
        "last": last,
        "products": products,
        "batch": ipu.vmap(lambda row: row * row + np.sum(row))(z),
        "loop": ipu.fori_loop(0, 3, lambda k, c: c + z[k], z[0]),
    }


def test_complex_elements(both_agree):
    def on_array(array, key, how, values):
        found = array.copy()
        found[key] = COMBINE[how](found[key], values)
        return found

    def program(z, i):
        traced = isinstance(z, ipu.Tensor)
        return _complex(z, i, (lambda x, key, how, v: getattr(x.at[key], how)(v)) if traced else on_array)

    both_agree(program, Z, AT, tolerance=1e-5)


BAD = [
    (lambda x, i: x[x > 1], TypeError, r"how many elements the mask bool\[2, 3, 4, 5\] selects is not known.*np.where"),
    (lambda x, i: x[: i[0, 0]], TypeError, r"a slice to or from int32\[\] has is not known.*ipu.dynamic_slice"),
    (lambda x, i: x[x[0, 0, 0, 0]], TypeError, r"float32\[\] is no index; use integers: astype"),
    (lambda x, i: x[i[0, 0] > 1], TypeError, r"bool\[\] is no index"),
    (lambda x, i: x[i, [0, 1, 2]], IndexError, r"shapes \(2, 2\) and \(3,\) do not broadcast"),
    (lambda x, i: np.zeros_like(x, shape=(0, 3))[i], IndexError, r"axis 0 has no elements for int32"),
    (lambda x, i: x.at[i].set(x[:, :2]), ValueError, r"values of shape .* do not broadcast to what is selected"),
    (lambda x, i: i.at[0].set(1.5), TypeError, r"at\[\].set of int32\[2, 2\] with 1.5: values of another kind"),
    (lambda x, i: x.at[x[0] > 1].set(1), ValueError, "is for other sizes than the first of"),
    (lambda x, i: x.at[x > 1].set(x[0, 0, 0]), ValueError, "give one value for all, or one of shape"),
    (lambda x, i: (x * 1j).at[i].max(1), TypeError, "complex elements at places that arrays say can be set and"),
    (lambda x, i: x.at[i].apply(np.sin), AttributeError, r"x.at\[...\] has no apply; it has get, set, add"),
    (lambda x, i: ipu.dynamic_slice(x, (0, 0), (1, 1)), ValueError, "2 starts and 2 sizes for 4 dimensions"),
    (lambda x, i: ipu.dynamic_slice(i, (0, 0), (3, 1)), ValueError, r"a slice of shape \(3, 1\) does not fit"),
    (lambda x, i: ipu.dynamic_slice(i, (0.5, 0), (1, 1)), TypeError, "a start is one integer, got 0.5"),
    (lambda x, i: ipu.dynamic_slice(i, (i, 0), (1, 1)), TypeError, r"a start is one integer, got int32\[2, 2\]"),
    (lambda x, i: ipu.dynamic_update_slice(i, i.astype("f4"), (0, 0)), TypeError, "update float32.*use astype"),
    (lambda x, i: np.take(x, i, mode="other"), ValueError, "np.take while tracing: mode 'other'"),
    (lambda x, i: np.take_along_axis(x, i, 0), ValueError, "indices have 2 dimensions and the tensor has 4"),
    (lambda x, i: np.take_along_axis(x[0, 0], i * 0.5, 0), TypeError, r"indices float64\[2, 2\] are no integers"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_refused(number):
    function, kind, message = BAD[number]
    with pytest.raises(kind, match=message) as caught:
        ipu.function(function).trace(X, IDS)
    assert isinstance(caught.value, ipu.IpuError) and caught.value.place.file == __file__
