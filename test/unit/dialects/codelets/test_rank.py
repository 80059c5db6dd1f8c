"""Ranks: all at once they are what one vertex counts, and what they count is the order of a stable sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ipu_mlir.dialects.codelets.rank import RANK

SHAPES = arrays.array_shapes(min_dims=3, max_dims=3, max_side=7)
FLOATS = arrays.arrays(
    np.float32, SHAPES, elements=st.sampled_from([0.0, -0.0, 1.0, -1.5, 2.5, np.inf, -np.inf, np.nan])
)


def ranks(*keys):
    """The ranks of all elements, by both forms."""
    positions = np.arange(keys[0].shape[1])
    out = np.empty(keys[0].shape, np.int64)
    (fast,) = RANK.vectorised(*keys, positions, out)
    assert fast is out
    (exact,) = RANK.per_tile(*keys, positions)
    np.testing.assert_array_equal(fast, exact)
    return fast


@settings(max_examples=80)
@given(FLOATS)
def test_all_vertices_at_once_are_one_vertex_after_the_other(values):
    before = values.copy()
    ranks(values)
    np.testing.assert_array_equal(values, before)


@settings(max_examples=60)
@given(st.data())
def test_integer_ranks_are_the_places_of_a_stable_sort(data):
    shape = data.draw(SHAPES)
    keys = [
        data.draw(arrays.arrays(dtype, shape, elements=st.integers(-2, 2)))
        for dtype in data.draw(st.sampled_from([[np.int8], [np.int64], [np.int8, np.int32], [np.int32] * 3]))
    ]
    order = np.lexsort(keys[::-1], 1)
    np.testing.assert_array_equal(
        np.take_along_axis(ranks(*keys), order, 1), np.broadcast_to(np.arange(shape[1])[None, :, None], shape)
    )


def test_zeros_of_both_signs_tie():
    assert ranks(np.array([[[0.0], [-0.0], [-1.0]]], np.float32)).ravel().tolist() == [1, 2, 0]


def test_nan_ties_with_all():
    """It counts for the elements behind it, and has before it what stands there."""
    values = np.array([3.0, np.nan, 1.0, 2.0], np.float32).reshape(1, 4, 1)
    assert ranks(values).ravel().tolist() == [2, 1, 1, 2]


@pytest.mark.parametrize("positions", [[0], [2, 3], [1, 2, 3, 4]])
def test_a_vertex_ranks_its_own_elements_only(positions):
    values = np.array([4, 1, 3, 1, 0], np.int32).reshape(1, 5, 1)
    (own,) = RANK.per_tile(values, np.array(positions))
    assert own.ravel().tolist() == [[4, 1, 3, 2, 0][position] for position in positions]
