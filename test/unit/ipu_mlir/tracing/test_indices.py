"""Any index that NumPy takes, and whose arrays are known while tracing, picks the same elements of a traced tensor."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=3)
X = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
SEEN = {
    "an integer and a list apart": (0, slice(None), [1, 2]),
    "an integer and a list, after a slice": (-1, slice(3), [2, 0, 3]),
    "an integer, ... and a list": (1, ..., [0, -1]),
    "a list and an integer together": (slice(None), [1, 2, 0], 1),
    "... for nothing lies between": (slice(None), 0, ..., [1, 2, 0], slice(None)),
    "None lies between": (0, None, [1, 2, 0]),
    "lists that go together": ([0, 1, 1], slice(None), [3, 0, 1]),
    "lists that broadcast": ([[0], [1]], [[2, 0, 1]]),
    "two dimensions": np.array([[0, 1], [1, 1], [0, 0]]),
    "negative numbers": (slice(None), np.array([-1, -3, 0])),
    "a mask": (slice(None), np.array([True, False, True])),
    "a mask of two dimensions": np.arange(6).reshape(2, 3) % 2 == 1,
    "a mask of all": X % 7 == 2,
    "a mask and an integer": (slice(None), np.array([True, False, True]), slice(None), -1),
    "many in no order": (
        ...,
        [0, 1, 3, 2, 0, 4, 4, 1, 0, 3, 1, 4, 2, 0, 1, 3, 3, 0, 2, 4, 1, 1, 3, 0, 4, 2, 0, 1, 3, 4],
    ),
    "arrays without dimensions": (np.array(1), slice(None), np.array(2)),
    "small unsigned numbers": np.array([1, 0], np.uint8),
}


@pytest.mark.parametrize("name", SEEN)
def test_index(agrees, name):
    agrees(lambda x: x[SEEN[name]] * 1, X)


@st.composite
def indices(draw: st.DrawFn) -> Any:
    """An index into ``X``: mostly one that fits, with arrays that broadcast."""
    picked = draw(st.sampled_from([(2,), (1,), (3, 1), (3, 2)]))
    entries: list[Any] = []
    axes = iter(X.shape)
    for size in axes:
        kind = draw(st.sampled_from(["slice", "integer", "array", "array", "mask", "none", "end"]))
        if kind == "end":
            break
        if kind == "none":
            entries.append(None)
            kind = "slice"
        if kind == "slice":
            entries.append(draw(st.slices(size)))
        elif kind == "integer":
            entries.append(draw(st.integers(-size, size)))
        elif kind == "array":
            shape = tuple(draw(st.sampled_from([1, n])) for n in picked[draw(st.integers(0, len(picked))) :])
            numbers = draw(st.lists(st.integers(-size, size - 1), min_size=6, max_size=6))
            entries.append(np.resize(numbers, shape))
        else:
            entries.append(np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))))
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), ...)
    return tuple(entries)


@settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(indices())
def test_any_index(index):
    """What NumPy refuses is refused, as an IndexError."""
    try:
        expected = X[index]
    except IndexError:
        with pytest.raises(IndexError):
            ipu.function(lambda x: x[index]).trace(X)
        return
    found = ipu.compile(ipu.function(lambda x: x[index] * 1), args=[X], target=SMALL).run([X])[0]
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (np.ones(3, np.bool_), r"a mask of shape \(3,\) is for 3 elements of axis 0, which has 2"),
        ((..., np.ones((4, 4), np.bool_)), r"a mask of shape \(4, 4\) is for 4 elements of axis 3, which has 5"),
        (([0, 1], [0, 1, 2]), r"shapes \(2,\) and \(3,\) do not broadcast"),
        ([[0, 1], [2]], "its rows differ in length"),
        ([0, 2], "2 is out of range for axis 0 with size 2"),
        ((0, 0, 0, [0], [0]), "5 indices for 4 dimensions"),
        ((..., 0, ...), "only one '...' is possible"),
    ],
    ids=str,
)
def test_refused(index, message):
    with pytest.raises(ipu.IpuError, match=message) as caught:
        ipu.function(lambda x: x[index]).trace(X)
    assert isinstance(caught.value, IndexError)
