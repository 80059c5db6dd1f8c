"""Sorts of tuples: the fast form gives what the definition gives, and what a merge costs."""

import numpy as np
import pytest

from ipu_mlir.dialects.codelets.sort_tuples import SORT_TUPLES, sort_tuples_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target

MACHINE = machine_of(Target())


def tuples(shape, dtypes, seed):
    """Operands of that shape: few different first ones, places, and payloads."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    first = rng.integers(-3, 3, count).astype(dtypes[0])
    places = rng.permutation(count).astype(np.int32)
    others = [rng.standard_normal(count).astype(dtype) for dtype in dtypes[1:]]
    return [each.reshape(shape) for each in (first, places, *others)]


@pytest.mark.parametrize("shape", [(3, 1, 1, 1, 1, 5), (2, 2, 1, 2, 2, 3), (1, 1, 2, 2, 1, 4), (1, 2, 2, 2, 1, 1)])
@pytest.mark.parametrize("dtypes", [("i4", "f4"), ("i8", "f2"), ("i2",), ("i4", "f8", "f4")])
def test_all_at_once_is_what_the_vertices_give(shape, dtypes):
    operands = tuples(shape, dtypes, seed=7)
    before = [each.copy() for each in operands]
    places = [tuple(np.arange(size) for size in shape)] * len(operands)
    exact = SORT_TUPLES.per_tile(places, *operands)
    for fast, slow, given, old in zip(SORT_TUPLES.vectorised(*operands), exact, operands, before, strict=True):
        np.testing.assert_array_equal(fast, slow)
        np.testing.assert_array_equal(given, old)


@pytest.mark.parametrize("shape", [(3, 1, 1, 1, 1, 50), (2, 2, 1, 2, 2, 9), (1, 1, 1, 1, 1, 0)])
@pytest.mark.parametrize("padding", [False, True])
def test_rows_of_which_the_second_operand_counts(shape, padding):
    first, places, other = tuples(shape, ("i4", "i4"), seed=5)
    places[:] = 3 * np.arange(places.size).reshape(shape) - 7
    if padding:
        first[..., -4:], places[..., -4:], other[..., -4:] = 2, 1000, 5
    each = [tuple(np.arange(size) for size in shape)] * 3
    for fast, slow in zip(
        SORT_TUPLES.vectorised(first, places, other), SORT_TUPLES.per_tile(each, first, places, other), strict=True
    ):
        np.testing.assert_array_equal(fast, slow)


@pytest.mark.parametrize("shape", [(3, 1, 1, 1, 1, 50), (2, 2, 1, 2, 2, 9)])
@pytest.mark.parametrize("kinds", [("i4", "i4", "i4"), ("i1", "i4", "i8", "i2"), ("i8", "i8", "i4")])
def test_keys_that_tie_leave_the_order_to_the_next_one(shape, kinds):
    rng = np.random.default_rng(11)
    keys = [rng.integers(0, 3, shape).astype(kind) for kind in kinds]
    operands = [*keys, rng.permutation(keys[0].size).astype(np.int32).reshape(shape)]
    each = [tuple(np.arange(size) for size in shape)] * len(operands)
    for fast, slow in zip(SORT_TUPLES.vectorised(*operands), SORT_TUPLES.per_tile(each, *operands), strict=True):
        np.testing.assert_array_equal(fast, slow)


def test_a_vertex_of_the_second_direction_puts_the_larger_row_first():
    operands = tuples((1, 2, 1, 2, 1, 4), ("i4",), seed=3)
    places = [(np.arange(1), np.array([1]), np.arange(1), np.arange(2), np.arange(1), np.arange(4))] * 2
    (first, _) = SORT_TUPLES.per_tile(places, *(each[:, 1:] for each in operands))
    rows = first[0, 0, 0, :, 0]
    assert rows[0].min() >= rows[1].max()
    assert (np.diff(rows) >= 0).all()


def test_merging_takes_time_in_proportion_and_sorting_a_row_more():
    merged = [int(sort_tuples_cycles(1, 2, width, 2, MACHINE)) for width in (512, 1024)]
    assert 1.9 < merged[1] / merged[0] < 2.1
    assert sort_tuples_cycles(6, 1, 512, 2, MACHINE) > sort_tuples_cycles(6, 2, 256, 2, MACHINE)
