"""``ipu-expand-powers``: powers whose exponent is known and small are products; by a power of two one shifts."""

from collections.abc import Callable
from typing import Any

from ipu_mlir.dialects.analysis.matchers import constant_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import REWRITTEN, SKIP, rewrite

_MOST_FACTORS = {"math.powf": 3, "math.fpowi": 3, "math.ipowi": 8}
"""The largest exponent of each: each product is rounded, and three factors stay within one ulp; integers are exact."""

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


def _root(base: ir.Value) -> ir.Value:
    """The square root; unlike it, this power is +0 for -0, and infinity for minus infinity."""
    arith, math = upstream("arith"), upstream("math")
    root = math.SqrtOp(arith.AddFOp(base, _number(0.0, base.type)).result).result
    is_lowest = arith.CmpFOp(arith.CmpFPredicate.OEQ, base, _number(float("-inf"), base.type)).result
    return arith.SelectOp(is_lowest, _number(float("inf"), base.type), root).result


def _reciprocal(value: ir.Value) -> ir.Value:
    return upstream("arith").DivFOp(_number(1.0, value.type), value).result


def expansion(name: str, exponent: float) -> Callable[[ir.Value], ir.Value] | None:
    """The function that makes the power of a base, for the operation ``name``; None if that is left to it.

    >>> [exponent for exponent in (-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4) if expansion("math.powf", exponent)]
    [-1, -0.5, 0, 0.5, 1, 2, 3]
    >>> [exponent for exponent in range(-2, 10) if expansion("math.ipowi", exponent)]
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    if exponent == 0:
        return lambda base: _number(1, base.type)
    if 0 < exponent <= _MOST_FACTORS[name] and exponent == int(exponent):
        return lambda base: _product(base, int(exponent))
    if name == "math.ipowi":
        return None
    special = {-1.0: _reciprocal, 0.5: _root, -0.5: lambda base: _reciprocal(_root(base))}
    return special.get(exponent)


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
    is_number = isinstance(base.type, ir.IntegerType) or (isinstance(base.type, ir.FloatType) and base.type.width >= 16)
    if not is_number or not isinstance(exponent, ir.FloatAttr | ir.IntegerAttr):
        return SKIP
    make = expansion(op.operation.name, exponent.value)
    if make is None:
        return SKIP
    with rewriter.ip, op.location:
        found = make(base)
    rewriter.replace_op(op, [found])
    return REWRITTEN


class ExpandPowers(Pass):
    """Write powers with small exponents as products, quotients and roots, and divisions by powers of two as shifts.

    A power takes many times as long as a product, and a division of integers forty times as long as a shift. Exponents
    are 0, 1, 2, 3, -1, 0.5 and -0.5. The results are within one ulp of the exact ones, and integers, up to the exponent
    8, are exact; zeros, infinities and NaN are as a power has them.

    Needs:  scalar operations in bodies; exponents are constants there after ``ipu-fuse-elementwise-ops``.
    Leaves: no ``math.powf``, ``math.fpowi`` or ``math.ipowi`` with such an exponent, and no quotient or remainder of
            integers by a constant power of two.
    """

    name = "ipu-expand-powers"

    def run(self, module: ir.Operation) -> None:
        rewrite(module, {**dict.fromkeys(_MOST_FACTORS, expand_power), **dict.fromkeys(_DIVISIONS, expand_division)})
