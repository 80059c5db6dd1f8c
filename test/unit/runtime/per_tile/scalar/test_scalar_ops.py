"""The meaning of arith and math on scalars: one row per case, inputs and the result that MLIR defines."""

from typing import Any

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.scalar.element_types import dtype_of
from ipu_mlir.runtime.per_tile.scalar.scalar_ops import SCALAR_OPS

NAN, INF = float("nan"), float("inf")
LOW, HIGH = -(2**31), 2**31 - 1


def evaluate(text: str, *operands: Any) -> Any:
    """Results of one op on whole arrays; ``text`` uses %a, %b, %c and ends in the types of the operands after ``|``."""
    op, types = (part.strip() for part in text.split("|"))
    names = ["%a", "%b", "%c"][: len(operands)]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types.split(), strict=True))
    with ipu.context():
        module = ir.Module.parse(f"func.func @f({arguments}) {{ %r = {op}\n return }}")
        function = next(iter(module.body.operations))
        block = function.regions[0].blocks[0]
        first = next(iter(block.operations))
        arrays = [np.array(x, dtype_of(value.type)) for x, value in zip(operands, block.arguments, strict=True)]
        with np.errstate(all="ignore"):
            result = SCALAR_OPS[first.operation.name](first)(*arrays)
        assert np.asarray(result).dtype == dtype_of(first.results[0].type)
    return result


INTEGER_CASES = [
    ("arith.addi %a, %b : i32 | i32 i32", [HIGH, 1], [1, 2], [LOW, 3]),
    ("arith.addi %a, %b : i1 | i1 i1", [True, True, False], [True, False, False], [False, True, False]),
    ("arith.subi %a, %b : i8 | i8 i8", [-128, 5], [1, 7], [127, -2]),
    ("arith.subi %a, %b : i1 | i1 i1", [False], [True], [True]),
    ("arith.muli %a, %b : i32 | i32 i32", [65537], [65537], [131073]),
    ("arith.muli %a, %b : i1 | i1 i1", [True, True], [True, False], [True, False]),
    ("arith.divsi %a, %b : i32 | i32 i32", [-7, 7, -7, LOW, 6], [2, -2, -2, -1, 3], [-3, -3, 3, LOW, 2]),
    ("arith.divui %a, %b : i32 | i32 i32", [-1], [2], [HIGH]),
    ("arith.floordivsi %a, %b : i32 | i32 i32", [-7, 7, -7], [2, -2, -2], [-4, -4, 3]),
    ("arith.ceildivsi %a, %b : i32 | i32 i32", [-7, 7, 7, LOW], [2, -2, 2, 3], [-3, -3, 4, -715827882]),
    ("arith.ceildivui %a, %b : i8 | i8 i8", [-1, 4], [2, 2], [-128, 2]),
    ("arith.remsi %a, %b : i32 | i32 i32", [-7, 7, LOW], [2, -2, -1], [-1, 1, 0]),
    ("arith.remui %a, %b : i32 | i32 i32", [-1], [10], [5]),
    ("arith.shli %a, %b : i32 | i32 i32", [1, 3], [31, 31], [LOW, LOW]),
    ("arith.shrsi %a, %b : i32 | i32 i32", [-8], [1], [-4]),
    ("arith.shrui %a, %b : i32 | i32 i32", [-8], [1], [2147483644]),
    ("arith.andi %a, %b : i32 | i32 i32", [12], [10], [8]),
    ("arith.ori %a, %b : i32 | i32 i32", [12], [10], [14]),
    ("arith.xori %a, %b : i1 | i1 i1", [True], [True], [False]),
    ("arith.maxsi %a, %b : i32 | i32 i32", [-1], [1], [1]),
    ("arith.maxui %a, %b : i32 | i32 i32", [-1], [1], [-1]),
    ("arith.minsi %a, %b : i32 | i32 i32", [-1], [1], [-1]),
    ("arith.minui %a, %b : i32 | i32 i32", [-1], [1], [1]),
    ("arith.maxsi %a, %b : i1 | i1 i1", [True, True], [True, False], [True, False]),
    ("arith.maxui %a, %b : i1 | i1 i1", [True], [False], [True]),
    ("arith.cmpi slt, %a, %b : i32 | i32 i32", [-1, 1], [1, 1], [True, False]),
    ("arith.cmpi ult, %a, %b : i32 | i32 i32", [-1, 0], [1, 1], [False, True]),
    ("arith.cmpi sge, %a, %b : i32 | i32 i32", [-1, 1], [1, 1], [False, True]),
    ("arith.cmpi uge, %a, %b : i32 | i32 i32", [-1, 0], [1, 1], [True, False]),
    ("arith.cmpi ne, %a, %b : i32 | i32 i32", [1, 2], [1, 1], [False, True]),
    ("arith.cmpi slt, %a, %b : i1 | i1 i1", [True], [False], [True]),
    ("math.absi %a : i32 | i32", [-3, LOW], None, [3, LOW]),
    ("math.ipowi %a, %b : i32 | i32 i32", [3, -2, 2, -1], [4, 3, -1, -3], [81, -8, 0, -1]),
    ("math.ctlz %a : i32 | i32", [1, 0, -1], None, [31, 32, 0]),
    ("math.cttz %a : i32 | i32", [8, 0, -1], None, [3, 32, 0]),
    ("math.ctpop %a : i8 | i8", [-1, 5], None, [8, 2]),
]

FLOAT_CASES = [
    ("arith.maximumf %a, %b : f32 | f32 f32", [1, NAN, -0.0, 0.0], [2, 1, 0.0, -0.0], [2, NAN, 0.0, 0.0]),
    ("arith.minimumf %a, %b : f32 | f32 f32", [1, NAN, -0.0, 0.0], [2, 1, 0.0, -0.0], [1, NAN, -0.0, -0.0]),
    ("arith.maxnumf %a, %b : f32 | f32 f32", [NAN, 1, NAN], [1, NAN, NAN], [1, 1, NAN]),
    ("arith.minnumf %a, %b : f32 | f32 f32", [NAN, 1, 3], [1, NAN, 2], [1, 1, 2]),
    ("arith.remf %a, %b : f32 | f32 f32", [-7, 7], [3, -3], [-1, 1]),
    ("arith.negf %a : f32 | f32", [0.0], None, [-0.0]),
    ("arith.cmpf false, %a, %b : f32 | f32 f32", [1], [1], [False]),
    ("arith.cmpf oeq, %a, %b : f32 | f32 f32", [1, NAN], [1, NAN], [True, False]),
    ("arith.cmpf ogt, %a, %b : f32 | f32 f32", [2, NAN], [1, 1], [True, False]),
    ("arith.cmpf one, %a, %b : f32 | f32 f32", [2, 1, NAN], [1, 1, 1], [True, False, False]),
    ("arith.cmpf ord, %a, %b : f32 | f32 f32", [2, NAN], [1, 1], [True, False]),
    ("arith.cmpf ueq, %a, %b : f32 | f32 f32", [1, NAN, 2], [1, 1, 1], [True, True, False]),
    ("arith.cmpf ugt, %a, %b : f32 | f32 f32", [2, NAN, 1], [1, 1, 1], [True, True, False]),
    ("arith.cmpf uge, %a, %b : f32 | f32 f32", [1, NAN, 0], [1, 1, 1], [True, True, False]),
    ("arith.cmpf ult, %a, %b : f32 | f32 f32", [0, NAN, 1], [1, 1, 1], [True, True, False]),
    ("arith.cmpf ule, %a, %b : f32 | f32 f32", [1, NAN, 2], [1, 1, 1], [True, True, False]),
    ("arith.cmpf une, %a, %b : f32 | f32 f32", [1, NAN, 2], [1, NAN, 1], [False, True, True]),
    ("arith.cmpf uno, %a, %b : f32 | f32 f32", [1, NAN], [1, 1], [False, True]),
    ("arith.cmpf true, %a, %b : f32 | f32 f32", [1, NAN], [2, 1], [True, True]),
    ("arith.cmpf olt, %a, %b : f32 | f32 f32", [0, NAN, 1], [1, 1, 1], [True, False, False]),
    ("arith.cmpf ole, %a, %b : f32 | f32 f32", [1, NAN, 2], [1, 1, 1], [True, False, False]),
    ("arith.cmpf oge, %a, %b : f32 | f32 f32", [1, NAN, 0], [1, 1, 1], [True, False, False]),
    ("arith.extf %a : f32 to f64 | f32", [1.5], None, [1.5]),
    ("arith.truncf %a : f64 to f32 | f64", [1 + 2.0**-30], None, [1.0]),
    ("arith.fptosi %a : f32 to i32 | f32", [-1.9, 2.9], None, [-1, 2]),
    ("arith.fptoui %a : f32 to i8 | f32", [200.7], None, [-56]),
    ("arith.sitofp %a : i1 to f32 | i1", [True, False], None, [-1, 0]),
    ("arith.uitofp %a : i1 to f32 | i1", [True, False], None, [1, 0]),
    ("arith.sitofp %a : i32 to f32 | i32", [-1], None, [-1]),
    ("arith.uitofp %a : i32 to f32 | i32", [-1], None, [2.0**32]),
    ("arith.extsi %a : i1 to i32 | i1", [True], None, [-1]),
    ("arith.extui %a : i1 to i32 | i1", [True], None, [1]),
    ("arith.extui %a : i8 to i32 | i8", [-1], None, [255]),
    ("arith.extsi %a : i8 to i32 | i8", [-1], None, [-1]),
    ("arith.trunci %a : i32 to i8 | i32", [257, 128], None, [1, -128]),
    ("arith.trunci %a : i32 to i1 | i32", [2, 3], None, [False, True]),
    ("arith.index_cast %a : i32 to index | i32", [-1], None, [-1]),
    ("arith.index_castui %a : i32 to index | i32", [-1], None, [2**32 - 1]),
    ("arith.bitcast %a : f32 to i32 | f32", [1.0], None, [0x3F800000]),
    ("arith.bitcast %a : i32 to f32 | i32", [0x3F800000], None, [1.0]),
    ("math.absf %a : f32 | f32", [-0.0, -2], None, [0.0, 2]),
    ("math.round %a : f32 | f32", [0.5, -2.5, 0.49999997, 2.4], None, [1, -3, 0, 2]),
    ("math.roundeven %a : f32 | f32", [0.5, -2.5, 1.5], None, [0, -2, 2]),
    ("math.trunc %a : f32 | f32", [-1.7], None, [-1]),
    ("math.floor %a : f32 | f32", [-1.2], None, [-2]),
    ("math.ceil %a : f32 | f32", [1.2], None, [2]),
    ("math.powf %a, %b : f32 | f32 f32", [-2, -2, 0], [3, 0.5, 0], [-8, NAN, 1]),
    ("math.fpowi %a, %b : f32, i32 | f32 i32", [-2, 2, 5], [3, -2, 0], [-8, 0.25, 1]),
    ("math.rsqrt %a : f32 | f32", [4, 0], None, [0.5, INF]),
    ("math.copysign %a, %b : f32 | f32 f32", [1, -1], [-0.0, 2], [-1, 1]),
    ("math.erf %a : f32 | f32", [0, INF, -INF], None, [0, 1, -1]),
    ("math.atan2 %a, %b : f32 | f32 f32", [0.0], [-1.0], [np.float32(np.pi)]),
    ("math.isnan %a : f32 | f32", [NAN, 1], None, [True, False]),
    ("math.isinf %a : f32 | f32", [-INF, 1], None, [True, False]),
    ("math.isfinite %a : f32 | f32", [-INF, 1], None, [False, True]),
    ("math.isnormal %a : f32 | f32", [1e-40, 1], None, [False, True]),
]


@pytest.mark.parametrize(("text", "left", "right", "expected"), INTEGER_CASES + FLOAT_CASES)
def test_result(text: str, left: list[Any], right: list[Any] | None, expected: list[Any]) -> None:
    result = evaluate(text, left) if right is None else evaluate(text, left, right)
    np.testing.assert_array_equal(result, np.array(expected, result.dtype))
    if result.dtype.kind == "f":
        numbers = ~np.isnan(result)
        np.testing.assert_array_equal(np.signbit(result)[numbers], np.signbit(expected)[numbers])


def test_select_takes_each_element_from_its_side() -> None:
    result = evaluate("arith.select %a, %b, %c : i32 | i1 i32 i32", [True, False], [1, 2], [3, 4])
    assert result.tolist() == [1, 4]


def test_fma_does_not_round_the_product() -> None:
    x = 1 + 2.0**-12
    result = evaluate("math.fma %a, %b, %c : f32 | f32 f32 f32", [x], [x], [-1 - 2.0**-11])
    assert result.tolist() == [2.0**-24]


def test_clamp_and_its_nan() -> None:
    result = evaluate("math.clampf %a to [%b, %c] : f32 | f32 f32 f32", [5, -5, NAN], [-1, -1, -1], [1, 1, 1])
    np.testing.assert_array_equal(result, [1, -1, NAN])


def test_functions_of_f32_are_rounded_from_close_by() -> None:
    x = np.linspace(0.1, 0.9, 17, dtype=np.float32)
    wide = x.astype(np.float64)
    for name, function in {
        "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2,
        "log10": np.log10, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh,
        "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
        "atanh": np.arctanh, "sqrt": np.sqrt, "cbrt": np.cbrt,
    }.items():  # fmt: skip
        np.testing.assert_allclose(evaluate(f"math.{name} %a : f32 | f32", x), function(wide), rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(evaluate("math.acosh %a : f32 | f32", 1 + x), np.arccosh(1 + wide), rtol=1e-5)
    np.testing.assert_allclose(evaluate("math.erf %a : f32 | f32", [0.5]), 0.5204998778130465, rtol=1e-7)
    np.testing.assert_allclose(evaluate("math.erfc %a : f32 | f32", [0.5]), 0.4795001221869535, rtol=1e-7)


@pytest.mark.parametrize(
    ("name", "left", "right", "low", "high"),
    [
        ("mulsi_extended", [-2, HIGH], [3, HIGH], [-6, 1], [-1, 2**30 - 1]),
        ("mului_extended", [-1, 5], [-1, 7], [1, 35], [-2, 0]),
    ],
)
def test_extended_products(name: str, left: list[int], right: list[int], low: list[int], high: list[int]) -> None:
    with ipu.context():
        module = ir.Module.parse(f"func.func @f(%a: i32, %b: i32) {{ %l, %h = arith.{name} %a, %b : i32\n return }}")
        op = next(iter(next(iter(module.body.operations)).regions[0].blocks[0].operations))
        found = SCALAR_OPS[f"arith.{name}"](op)(np.array(left, np.int32), np.array(right, np.int32))
    assert [half.tolist() for half in found] == [low, high]


def test_extended_sum_carries() -> None:
    with ipu.context():
        module = ir.Module.parse(
            "func.func @f(%a: i32, %b: i32) { %l, %h = arith.addui_extended %a, %b : i32, i1\n return }"
        )
        op = next(iter(next(iter(module.body.operations)).regions[0].blocks[0].operations))
        total, carry = SCALAR_OPS["arith.addui_extended"](op)(np.array([-1, 1], np.int32), np.array([2, 2], np.int32))
    assert (total.tolist(), carry.tolist()) == ([1, 3], [True, False])
