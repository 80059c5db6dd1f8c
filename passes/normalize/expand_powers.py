"""``ipu-expand-powers``: powers whose exponent is known and small are products; by a power of two one shifts."""

from collections.abc import Callable
from typing import Any

from ipu_mlir.dialects.analysis.matchers import constant_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import REWRITTEN, SKIP, rewrite

_POWERS = ("math.powf", "math.fpowi", "math.ipowi")

_MOST_FACTORS = 12
"""Of floats of 32 bits or more: each factor adds half an ulp at most, as it does in a power by ``exp`` and ``log``."""

_OF_NARROW_FLOATS = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)
"""Exponents of narrower floats, whose power is within one ulp, and whose squares overflow soon."""

_MOST_INTEGERS = 8
"""Of integers, which are exact."""

_DIVISIONS = ("arith.divui", "arith.remui", "arith.divsi", "arith.remsi", "arith.floordivsi")


def _number(value: float, kind: ir.Type) -> ir.Value:
    attribute = ir.FloatAttr if isinstance(kind, ir.FloatType) else ir.IntegerAttr
    number = float(value) if attribute is ir.FloatAttr else int(value)
    return upstream("arith").ConstantOp(kind, attribute.get(kind, number)).result


def _product(base: ir.Value, factors: int) -> ir.Value:
    """``base`` to the power of ``factors``, at least 1, by squares."""
    multiply = upstream("arith").MulFOp if isinstance(base.type, ir.FloatType) else upstream("arith").MulIOp
    if factors == 1:
        return base
    half = _product(base, factors // 2)
    whole = multiply(half, half).result
    return multiply(whole, base).result if factors % 2 else whole


def _with_root(base: ir.Value, whole: int) -> ir.Value:
    """The power of ``base`` whose exponent is half more than ``whole``, away from zero.

    Unlike the square root, it is +0 (or infinity) for -0, and infinity (or 0) for minus infinity.
    """
    arith, math = upstream("arith"), upstream("math")
    positive = arith.AddFOp(base, _number(0.0, base.type)).result
    power = math.SqrtOp(positive).result
    if whole > 0:
        power = arith.MulFOp(_product(positive, whole), power).result
    elif whole < 0:
        power = arith.DivFOp(_reciprocal(_product(positive, -whole)), power).result
    is_lowest = arith.CmpFOp(arith.CmpFPredicate.OEQ, base, _number(float("-inf"), base.type)).result
    return arith.SelectOp(is_lowest, _number(0.0 if whole < 0 else float("inf"), base.type), power).result


def _reciprocal(value: ir.Value) -> ir.Value:
    return upstream("arith").DivFOp(_number(1.0, value.type), value).result


def expansion(exponent: float, kind: Any) -> Callable[[ir.Value], ir.Value] | None:
    """The function that makes the power of a number of the type ``kind``; None if that is left to the operation."""
    if exponent == 0:
        return lambda base: _number(1, base.type)
    if isinstance(kind, ir.IntegerType):
        known = 0 < exponent <= _MOST_INTEGERS
    elif kind.width < 32:
        known = kind.width == 16 and exponent in _OF_NARROW_FLOATS
    else:
        known = abs(exponent) <= _MOST_FACTORS and exponent * 2 == int(exponent * 2)
    if not known:
        return None
    whole = int(exponent)
    if exponent == -0.5:
        return lambda base: _reciprocal(_with_root(base, 0))
    if whole != exponent:
        return lambda base: _with_root(base, whole)
    if whole < 0:
        return lambda base: _reciprocal(_product(base, -whole))
    return lambda base: _product(base, whole)


def _quotient(name: str, value: ir.Value, bits: int) -> ir.Value:
    """What the division ``name`` of ``value`` by two to the power of ``bits`` gives."""
    arith, kind = upstream("arith"), value.type
    by, mask = _number(bits, kind), _number((1 << bits) - 1, kind)
    if name == "arith.divui":
        return arith.ShRUIOp(value, by).result
    if name == "arith.remui":
        return arith.AndIOp(value, mask).result
    if name == "arith.floordivsi":
        return arith.ShRSIOp(value, by).result
    sign = arith.ShRSIOp(value, _number(kind.width - 1, kind)).result
    above = arith.AddIOp(value, arith.AndIOp(sign, mask).result).result  # a negative number is rounded to zero
    if name == "arith.divsi":
        return arith.ShRSIOp(above, by).result
    return arith.SubIOp(value, arith.AndIOp(above, _number(-1 << bits, kind)).result).result


def expand_division(op: Any, rewriter: Any) -> bool:
    """A division of an integer by a power of two, or its remainder, becomes a shift, or what a mask leaves."""
    value, divisor = op.operands[0], constant_of(op.operands[1])
    if not isinstance(value.type, ir.IntegerType) or not isinstance(divisor, ir.IntegerAttr):
        return SKIP
    bits = divisor.value.bit_length() - 1
    if divisor.value <= 0 or divisor.value != 1 << bits:
        return SKIP
    with rewriter.ip, op.location:
        found = _quotient(op.operation.name, value, bits)
    rewriter.replace_op(op, [found])
    return REWRITTEN


def expand_power(op: Any, rewriter: Any) -> bool:
    """A power of one number with a known exponent becomes what ``expansion`` makes of it."""
    base, exponent = op.operands[0], constant_of(op.operands[1])
    if not isinstance(base.type, ir.IntegerType | ir.FloatType) or not isinstance(
        exponent, ir.FloatAttr | ir.IntegerAttr
    ):
        return SKIP
    make = expansion(exponent.value, base.type)
    if make is None:
        return SKIP
    with rewriter.ip, op.location:
        found = make(base)
    rewriter.replace_op(op, [found])
    return REWRITTEN


class ExpandPowers(Pass):
    """Write powers with small exponents as products, quotients and roots, and divisions by powers of two as shifts.

    A power takes many times as long as a product, and a division of integers forty times as long as a shift. Exponents
    are the multiples of a half from -12 to 12; of floats of 16 bits -1, -0.5, 0.5 and 0 to 3; of integers 0 to 8. A
    power of n factors is within n / 2 ulp of the exact one (one that is no normal number may be 0), and integers are
    exact; zeros, infinities and NaN are as a power has them.

    Needs:  scalar operations in bodies; exponents are constants there after ``ipu-fuse-elementwise-ops``.
    Leaves: no ``math.powf``, ``math.fpowi`` or ``math.ipowi`` with such an exponent, and no quotient or remainder of
            integers by a constant power of two.
    """

    name = "ipu-expand-powers"

    def run(self, module: ir.Operation) -> None:
        rewrite(module, {**dict.fromkeys(_POWERS, expand_power), **dict.fromkeys(_DIVISIONS, expand_division)})
