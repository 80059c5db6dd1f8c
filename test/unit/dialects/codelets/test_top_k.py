"""The largest elements: all rows at once they are what one vertex chooses, and what it chooses is a stable order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.codelets.top_k import top_k_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target


@st.composite
def rows(draw):
    """Keys, most of them several times, the least and the greatest among them, and how many are asked for."""
    shape = draw(arrays.array_shapes(min_dims=1, max_dims=3, max_side=7))
    dtype = np.dtype(draw(st.sampled_from([np.int8, np.int16, np.int32, np.int64])))
    limits = np.iinfo(dtype)
    keys = draw(arrays.arrays(dtype, shape, elements=st.sampled_from([limits.min, -1, 0, 1, limits.max])))
    return keys, draw(st.integers(1, shape[-1]))


@settings(max_examples=100)
@given(rows())
def test_both_forms_are_the_first_of_a_stable_order(drawn):
    keys, count = drawn
    codelet, before = codelet_named("top_k"), keys.copy()
    out = np.full((*keys.shape[:-1], count), -1, np.int32)
    (fast,) = codelet.vectorised(keys, out)
    assert fast is out
    places = ((), tuple(np.arange(size) for size in out.shape))
    (exact,) = codelet.per_tile(places, keys)
    np.testing.assert_array_equal(fast, np.argsort(~keys, -1, kind="stable")[..., :count])
    np.testing.assert_array_equal(exact, fast)
    np.testing.assert_array_equal(keys, before)


@pytest.mark.parametrize(("shapes", "holds"), [((5, 3), True), ((5, 5), True), ((5, 6), False), ((5, 0), False)])
def test_no_more_are_asked_for_than_there_are(shapes, holds):
    n, k = shapes
    assert codelet_named("top_k").takes(((2, n),), ((2, k),)) is holds


def test_the_workers_of_a_tile_share_a_row():
    machine = machine_of(Target(tiles_per_ipu=4))
    one, six = (int(top_k_cycles(rows, 6000, 8, "i32", machine)) for rows in (1, 6))
    assert one < 6 * 6000 * 4 < six
