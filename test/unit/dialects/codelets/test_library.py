"""The library codelets: the fast form gives what the definition gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ipu_mlir.dialects.codelets.library import LIBRARY, by_name, codelet_named
from ipu_mlir.dialects.codelets.sort import SORT
from ipu_mlir.dialects.errors import CompileError

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


def test_sort_needs_room_for_one_row():
    assert SORT.scratch_bytes(((6, 5),), 4) == 20


def test_every_codelet_is_found_by_its_name():
    for name, codelet in LIBRARY.items():
        assert codelet_named(name) is codelet
        assert codelet.source


def test_unknown_codelet_is_refused_with_those_that_exist():
    with pytest.raises(CompileError, match="no library codelet is called 'sorted'; there are: .*sort"):
        codelet_named("sorted")


def test_two_codelets_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two codelets are called 'sort'"):
        by_name((SORT, SORT))
