"""Scatter of whole rows: the fast form is found, and does what the definition does, however often a row comes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.codelets.scatter_rows import rows_of, scatter_rows


def operands(rows, columns, size):
    """A scatter of whole rows, as ``ipu-raise-loops`` makes it: an index over each loop, a guard for all."""
    updates = np.arange(1.0, 1.0 + len(rows) * columns, dtype=np.float32).reshape(len(rows), columns) / 4
    index = np.array(rows, np.int64).reshape(-1, 1), np.arange(columns).reshape(1, -1)
    elements = np.arange(size * columns, dtype=np.float32).reshape(size, columns)
    return [*index, np.array([[True]]), updates, np.arange(size), np.arange(columns), elements]


@pytest.mark.parametrize("name", ["set", "add", "mul", "max", "min"])
@given(rows=st.lists(st.integers(-2, 6), min_size=1, max_size=30), columns=st.integers(1, 4))
def test_rows_all_at_once_are_rows_one_by_one(name, rows, columns):
    """Up to 30 updates of 5 rows: also more of one row than there are rounds, and rows that there are not."""
    codelet = codelet_named(f"scatter_{name}")
    given_operands = operands(rows, columns, 5)
    assert rows_of(given_operands[:2], (5, columns)) is not None
    expected = codelet.per_tile(*given_operands)[0]
    np.testing.assert_allclose(codelet.vectorised(*given_operands)[0], expected, rtol=1e-6)


def test_updates_of_one_row_are_combined_in_their_order():
    """1e8 + 1 - 1e8 + 1 is 1 in f32 from left to right, and 2 or 0 in other orders."""
    values = np.array([[1e8], [1.0], [-1e8], [1.0]], np.float32)
    given_operands = operands([2, 2, 2, 2], 1, 5)
    given_operands[3], given_operands[-1] = values, np.zeros((5, 1), np.float32)
    assert codelet_named("scatter_add").vectorised(*given_operands)[0].ravel().tolist() == [0, 0, 1, 0, 0]


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum])
def test_so_many_updates_of_few_rows_that_one_pass_over_all_is_best(ufunc):
    """Several pieces of updates, in their order."""
    generator = np.random.default_rng(5)
    rows, updates = generator.integers(0, 3, 2500), generator.uniform(0.9, 1.1, (2500, 64)).astype(np.float32)
    elements = np.ones((3, 64), np.float32)
    want = elements.copy()
    for row, update in zip(rows, updates, strict=True):
        want[row] = ufunc(want[row], update)
    scatter_rows(ufunc, elements, rows.astype(np.int32), updates)
    np.testing.assert_array_equal(elements, want)


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ((np.array([[0], [1]]), np.array([[0, 2, 1]])), (5, 3)),
        ((np.array([[0], [1]]), np.array([[0, 1]])), (5, 3)),
        ((np.array([[0, 1, 2]]), np.array([[0, 1, 2]])), (5, 3)),
        ((np.array([0, 1]),), (5,)),
    ],
    ids=["another order", "a part of a row", "one row per column", "a vector"],
)
def test_what_is_no_row_is_not_taken_for_one(index, shape):
    assert rows_of(index, shape) is None


@pytest.mark.parametrize("name", ["scatter_set", "scatter_add"])
@pytest.mark.parametrize(
    ("row", "column", "updates"),
    [([0], [0], [4.0, 5.0]), ([[[1]]], [[[0]]], [[[1.0], [2.0]], [[3.0], [4.0]]])],
    ids=["several elements of one place", "several rows of one place"],
)
def test_one_index_for_all_updates(name, row, column, updates):
    def given_operands():
        index = np.array(row), np.array(column)
        return [*index, np.array(True).reshape(index[0].shape), np.array(updates), np.arange(2), np.arange(1), zeros()]

    def zeros():
        return np.zeros((2, 1))

    codelet = codelet_named(name)
    expected = codelet.per_tile(*given_operands())[0]
    np.testing.assert_array_equal(codelet.vectorised(*given_operands())[0], expected)


def test_guard_that_does_not_hold_keeps_every_row():
    given_operands = operands([0, 1], 3, 5)
    given_operands[2] = np.array([[False]])
    before = given_operands[-1].copy()
    np.testing.assert_array_equal(codelet_named("scatter_add").vectorised(*given_operands)[0], before)


@pytest.mark.parametrize("name", ["set", "add", "mul", "max", "min"])
@given(
    rows=st.lists(st.tuples(st.integers(-2, 6), st.booleans()), min_size=1, max_size=12),
    columns=st.integers(1, 3),
    is_apart=st.booleans(),
)
def test_rows_with_a_guard_each_are_rows_one_by_one(name, rows, columns, is_apart):
    """The elements stand in one piece, or apart: a part of wider rows."""
    given_operands = operands([row for row, _ in rows], columns, 5)
    given_operands[2] = np.array([guard for _, guard in rows]).reshape(-1, 1)
    if is_apart:
        given_operands[-1] = np.repeat(given_operands[-1], 2, axis=1)[:, ::2]
    codelet = codelet_named(f"scatter_{name}")
    expected = codelet.per_tile(*given_operands)[0]
    found = codelet.vectorised(*given_operands)[0]
    assert found is given_operands[-1], "in place"
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["set", "add", "mul", "max", "min"])
@pytest.mark.parametrize("guard", [[[True]], [[True], [False], [True]]], ids=["for all", "for each"])
@pytest.mark.parametrize("last", [4, 5], ids=["inside", "one outside"])
def test_one_row_of_updates_for_several_places(name, guard, last):
    def given_operands():
        found = operands([1, 1, last], 2, 5)
        found[2], found[3] = np.array(guard), np.float32([[2, 3]])
        return found

    codelet = codelet_named(f"scatter_{name}")
    expected = codelet.per_tile(*given_operands())[0]
    np.testing.assert_array_equal(codelet.vectorised(*given_operands())[0], expected)


def test_index_of_few_bits_counts_rows_and_not_elements():
    """Row 100 of 3 columns begins at element 300, which 8 bits do not hold; -1 is no row, neither is it 255."""
    given_operands = operands([100, 2, 100, -1], 3, 300)
    given_operands[:2] = (index.astype(np.int8) for index in given_operands[:2])
    codelet = codelet_named("scatter_add")
    expected = codelet.per_tile(*given_operands)[0]
    np.testing.assert_array_equal(codelet.vectorised(*given_operands)[0], expected)


@pytest.mark.parametrize("is_contiguous", [True, False])
def test_more_rows_than_fit_into_the_cache_at_once(is_contiguous):
    """20,000 updates of 5 elements: several pieces in the first iteration, rows that come again in the next ones."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 15_000, 20_000)
    updates = rng.integers(-9, 9, (20_000, 5)).astype(np.float32)  # small integers: sums in any order are equal
    memory = np.zeros((15_000, 5 if is_contiguous else 7), np.float32)
    elements = memory[:, :5]
    scatter_rows(np.add, elements, rows, updates)
    expected = np.zeros_like(elements)
    np.add.at(expected, rows, updates)
    np.testing.assert_array_equal(elements, expected)
    assert not memory[:, 5:].any()
