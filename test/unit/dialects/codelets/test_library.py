"""The library codelets: the fast form gives what the definition gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ipu_mlir.dialects.codelets.library import LIBRARY, by_name, codelet_named
from ipu_mlir.dialects.codelets.sort import SORT
from ipu_mlir.dialects.support.errors import CompileError

ROWS = arrays.arrays(
    np.float32,
    arrays.array_shapes(min_dims=1, max_dims=3, max_side=7),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan]),
)


@given(ROWS)
def test_sort_all_at_once_is_sort_row_by_row(values):
    (fast,), (exact,) = SORT.vectorised(values), SORT.per_tile(values)
    np.testing.assert_array_equal(fast, exact)


@given(ROWS)
def test_sort_leaves_its_input(values):
    before = values.copy()
    SORT.per_tile(values)
    SORT.vectorised(values)
    np.testing.assert_array_equal(values, before)


def test_every_codelet_is_found_by_its_name():
    for name, codelet in LIBRARY.items():
        assert codelet_named(name) is codelet
        assert codelet.source


def test_unknown_codelet_is_refused_with_those_that_exist():
    with pytest.raises(
        CompileError, match=r"no library codelet is called 'sorted'; is 'sort' meant\? there are: .*sort"
    ):
        codelet_named("sorted")


def test_two_codelets_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two codelets are called 'sort'"):
        by_name((SORT, SORT))


@st.composite
def scatters(draw):
    """Operands of a scatter into a whole tensor: an index per dimension, guard, update, positions, elements."""
    shape = draw(arrays.array_shapes(min_dims=1, max_dims=2, max_side=4))
    updates = draw(arrays.array_shapes(min_dims=1, max_dims=2, max_side=4))
    index = [draw(arrays.arrays(np.int64, updates, elements=st.integers(0, size - 1))) for size in shape]
    guard = draw(arrays.arrays(np.bool_, updates))
    numbers = st.integers(-3, 3).map(float)
    update = draw(arrays.arrays(np.float32, updates, elements=numbers))
    positions = [np.arange(size) for size in shape]
    return [*index, guard, update, *positions, draw(arrays.arrays(np.float32, shape, elements=numbers))]


def scattered(name, operands):
    """What the loop does that the scatter stands for."""
    combine = {"set": lambda old, new: new, "add": lambda old, new: old + new, "mul": lambda old, new: old * new,
               "max": max, "min": min}[name]  # fmt: skip
    elements = operands[-1].copy()
    *index, guard, update = (operand.ravel() for operand in operands[: elements.ndim + 2])
    for number in range(len(guard)):
        if guard[number]:
            place = tuple(each[number] for each in index)
            elements[place] = combine(elements[place], update[number])
    return elements


@pytest.mark.parametrize("name", ["set", "add", "mul", "max", "min"])
@settings(max_examples=40)
@given(scatters())
def test_scatter_is_the_loop_that_it_stands_for(name, operands):
    codelet = codelet_named(f"scatter_{name}")
    expected = scattered(name, operands)
    np.testing.assert_array_equal(codelet.per_tile(*operands)[0], expected)
    np.testing.assert_array_equal(codelet.vectorised(*operands)[0], expected)


@given(scatters(), st.data())
def test_scatter_of_one_vertex_changes_its_own_elements_only(operands, data):
    elements = operands[-1]
    start = data.draw(st.integers(0, elements.shape[0] - 1))
    stop = data.draw(st.integers(start + 1, elements.shape[0]))
    rank = elements.ndim
    own = [*operands[: rank + 2], np.arange(start, stop), *operands[rank + 3 : -1], elements[start:stop]]
    codelet = codelet_named("scatter_set")
    np.testing.assert_array_equal(codelet.per_tile(*own)[0], codelet.per_tile(*operands)[0][start:stop])
