"""Every function of the form of a ufunc does a single number as it does an array: ufuncs give scalars for those."""

import numpy as np
import pytest

from ipu_mlir.runtime import numeric
from ipu_mlir.runtime.numeric.narrow_floats import NAMES, bits_dtype, bits_of, of_bits, round_to

F32, F64, I32, U32 = np.float32, np.float64, np.int32, np.uint32
NARROW = sorted(NAMES - {"bf16"})
CASES = [
    ("round_to_bf16", F32, (F32(1.00390626),)),
    ("round_to_bf16", F32, (F32(np.nan),)),
    ("round_to_bf16", F32, (F64(1.00390625 + 2.0**-40),)),
    ("odd_multiply_add", F64, (F64(3), F64(5), F64(2.0**-100))),
    ("odd_double", F64, (np.int64(2**60 + 1),)),
    ("bits_of_bf16", np.int16, (F32(-2.5),)),
    ("bf16_of_bits", F32, (np.int16(0x3F81),)),
    *((round_to(name), F32, (x,)) for name in NARROW for x in (F32(1.3), F64(1 + 2.0**-11 + 2.0**-40))),
    *((bits_of(name), bits_dtype(name), (F32(0.5),)) for name in NARROW),
    *((of_bits(name), F32, (bits_dtype(name).type(0x51),)) for name in NARROW),
    ("ceil_divide", I32, (I32(-7), I32(2))),
    ("count_leading_zeros", U32, (U32(19),)),
    ("count_ones", U32, (U32(19),)),
    ("count_trailing_zeros", U32, (U32(24),)),
    ("divide_to_zero", I32, (I32(-7), I32(2))),
    *(("erf", F64, (F64(x),)) for x in (0.5, 1.0, -3.0, 9.0, np.nan)),
    *(("erfc", F64, (F64(x),)) for x in (0.5, 1.0, -3.0, 9.0, np.nan)),
    ("erf", F32, (F32(0.7),)),
    ("erfc", F32, (F32(2.7),)),
    ("integer_power", I32, (I32(-3), I32(5))),
    ("is_normal", np.bool_, (F32(1e-40),)),
    ("larger", F32, (F32(0), F32(-0.0))),
    ("smaller", F32, (F32(0), F32(-0.0))),
    ("positive_bool", np.bool_, (np.bool_(True),)),
    ("round_half_away", F32, (F32(-2.5),)),
    *(("saturated_integer", U32, (F32(x),)) for x in (-3.5, 2.5, 1e30, np.nan)),
    ("select", F32, (np.bool_(False), F32(1), F32(2))),
    ("select_bool", np.bool_, (np.bool_(True), np.bool_(False), np.bool_(True))),
    ("clip", I32, (I32(7), I32(0), I32(5))),
]


OTHERS = {"require", "run_codelet"} | {
    f"first_{which}{nan}" for which in ("maximum", "minimum") for nan in ("", "_after_nan", "_or_nan")
}
"""Functions of another form."""


def test_every_function_has_a_case():
    assert {name for name, _, _ in CASES} | OTHERS == set(numeric._OWN)


@pytest.mark.parametrize(("name", "dtype", "operands"), CASES)
def test_a_number_is_done_as_an_array(name, dtype, operands):
    function = numeric.function(name)
    number, array = np.empty((), dtype), np.empty(2, dtype)
    function(*(np.array(each) for each in operands), number)
    function(*(np.full(2, each) for each in operands), array)
    np.testing.assert_array_equal(np.full(2, number), array)
