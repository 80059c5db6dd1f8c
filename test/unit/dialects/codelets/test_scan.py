"""Scans: all at once they are what one vertex does, and what the loop does that they stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.codelets.scan import SCANS

SHAPES = arrays.array_shapes(min_dims=3, max_dims=3, max_side=6)
FLOATS = arrays.arrays(np.float32, SHAPES, elements=st.sampled_from([0.0, 1.0, -1.5, 2.5, np.inf, -np.inf, np.nan]))
INTEGERS = st.sampled_from([np.int8, np.int32, np.int64]).flatmap(
    lambda dtype: arrays.arrays(dtype, SHAPES, elements=st.integers(-100, 100))
)
EXACT = ("scan_add", "scan_mul", "scan_max", "scan_min")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("codelet", SCANS, ids=lambda codelet: codelet.name)
@settings(max_examples=40)
@given(FLOATS)
def test_all_vertices_at_once_are_one_vertex_after_the_other(codelet, values):
    before = values.copy()
    out = np.empty_like(values)
    (fast,) = codelet.vectorised(values, out)
    assert fast is out
    np.testing.assert_array_equal(fast, codelet.per_tile(values)[0])
    np.testing.assert_array_equal(values, before)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=40)
@given(INTEGERS)
def test_integers_wrap_around_in_their_own_type(name, values):
    codelet = codelet_named(name)
    (fast,), (exact,) = codelet.vectorised(values, np.empty_like(values)), codelet.per_tile(values)
    assert exact.dtype == values.dtype
    np.testing.assert_array_equal(fast, exact)
    ufunc = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[name.removeprefix("scan_")]
    np.testing.assert_array_equal(exact[:, -1], ufunc.reduce(values, 1, values.dtype))


@pytest.mark.parametrize("name", ["scan_add", "scan_max"])
def test_from_end_is_the_mirrored_scan(name):
    values = np.random.default_rng(0).standard_normal((2, 7, 3)).astype(np.float32)
    mirrored = np.ascontiguousarray(values[:, ::-1])
    (forward,) = codelet_named(name).per_tile(mirrored)
    np.testing.assert_array_equal(codelet_named(f"{name}_from_end").per_tile(values)[0], forward[:, ::-1])


@pytest.mark.parametrize("name", ["scan_add", "scan_mul_from_end"])
@pytest.mark.parametrize("shape", [(2, 9, 300), (1, 9, 511), (5, 9, 512)])
def test_large_planes_give_the_same_bits_as_columns(name, shape):
    """From a certain size of a step on, the fast form goes step by step."""
    values = np.random.default_rng(1).uniform(0.5, 1.5, shape).astype(np.float32)
    codelet = codelet_named(name)
    (whole,) = codelet.vectorised(values, np.empty_like(values))
    for column in (0, 7, shape[2] - 1):
        one = np.ascontiguousarray(values[:, :, column : column + 1])
        np.testing.assert_array_equal(whole[:, :, column], codelet.per_tile(one)[0][:, :, 0])


def test_a_scan_may_run_in_place():
    values = np.arange(12, dtype=np.int32).reshape(1, 12, 1)
    expected = np.cumsum(values.ravel())
    for codelet, wanted in (("scan_add", expected), ("scan_add_from_end", expected[-1] - expected + values.ravel())):
        array = values.copy()
        codelet_named(codelet).vectorised(array, array)
        np.testing.assert_array_equal(array.ravel(), wanted)
