"""The place of an extreme: the fast form finds what a loop over each row finds, also among NaN and infinities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ipu_mlir.dialects.codelets import first_extreme
from ipu_mlir.dialects.codelets.first_extreme import FIRST_EXTREMES, first_extreme_cycles
from ipu_mlir.dialects.machine.machine import IPU2

SHAPES = arrays.array_shapes(min_dims=3, max_dims=3, max_side=5)
FLOATS = arrays.arrays(
    np.float32, SHAPES, elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5])
)
INTEGERS = arrays.arrays(np.int8, SHAPES, elements=st.sampled_from([-128, -1, 0, 3, 127]))


@pytest.mark.parametrize("codelet", FIRST_EXTREMES, ids=lambda codelet: codelet.name)
@settings(max_examples=60, deadline=None)
@given(values=FLOATS | INTEGERS)
def test_the_fast_form_finds_what_a_loop_finds(codelet, values) -> None:
    (exact,) = codelet.per_tile(values)
    out = np.empty(exact.shape, np.int64)
    assert getattr(first_extreme, codelet.name)(values, 1, out) is out
    np.testing.assert_array_equal(out, exact)


def test_or_nan_is_what_numpy_finds() -> None:
    values = np.float32([[3, np.nan, 7, np.nan], [-np.inf] * 4, [1, 5, 5, 0]]).reshape(3, 4, 1)
    by_name = {codelet.name: codelet for codelet in FIRST_EXTREMES}
    for name in ("maximum", "minimum"):
        (found,) = by_name[f"first_{name}_or_nan"].per_tile(values)
        np.testing.assert_array_equal(found, getattr(np, f"arg{name[:3]}")(values, axis=1))


def test_workers_share_rows_or_each_row() -> None:
    assert first_extreme_cycles(12, 100, "f32", IPU2) == 11 + 6 * (26 + 2 * 100 * 4)
    assert first_extreme_cycles(1, 600, "f32", IPU2) == 11 + 6 * (52 + (100 + 6) * 4)
