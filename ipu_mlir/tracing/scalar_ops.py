"""What NumPy's element-wise functions do to one element, as arith and math ops.

``BODIES`` has an entry per ufunc name. Where MLIR leaves a case undefined that NumPy defines (division of integers by
zero, shifts by more than the width), the body defines it; with constant operands canonicalisation removes the guard.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute

arith, math = upstream("arith"), upstream("math")
_FLOAT, _INT = arith.CmpFPredicate, arith.CmpIPredicate

ScalarOp = Callable[..., ir.Value]


@dataclass(frozen=True)
class Body:
    """The scalar code of one function, for float, integer and bool operands; None where there is none.

    ``on_uint`` is for unsigned integers, where it differs from that for integers.
    """

    on_float: ScalarOp | None = None
    on_int: ScalarOp | None = None
    on_bool: ScalarOp | None = None
    on_uint: ScalarOp | None = None

    def for_kind(self, kind: str) -> ScalarOp | None:
        """The code for a kind of element types: ``f``, ``i``, ``u`` or ``b``."""
        return {"f": self.on_float, "i": self.on_int, "b": self.on_bool, "u": self.on_uint or self.on_int}[kind]


def like(value: ir.Value, number: float | int) -> ir.Value:
    """A constant of ``value``'s type."""
    return arith.constant(value.type, scalar_attribute(value.type, number))


def _cmpf(predicate: Any) -> ScalarOp:
    return lambda a, b: arith.cmpf(predicate, a, b)


def _cmpi(predicate: Any) -> ScalarOp:
    return lambda a, b: arith.cmpi(predicate, a, b)


def _identity(a: ir.Value) -> ir.Value:
    return a


def _not(a: ir.Value) -> ir.Value:
    return arith.xori(a, like(a, 1))


def _true(a: ir.Value) -> ir.Value:
    return arith.cmpi(_INT.eq, a, a)


def _false(a: ir.Value) -> ir.Value:
    return arith.cmpi(_INT.ne, a, a)


def _truth_f(a: ir.Value) -> ir.Value:
    return arith.cmpf(_FLOAT.UNE, a, like(a, 0))


def _truth_i(a: ir.Value) -> ir.Value:
    return arith.cmpi(_INT.ne, a, like(a, 0))


def _logical(combine: ScalarOp) -> Body:
    return Body(lambda a, b: combine(_truth_f(a), _truth_f(b)), lambda a, b: combine(_truth_i(a), _truth_i(b)), combine)


def _compare(on_float: Any, on_int: Any, on_bool: Any) -> Body:
    return Body(_cmpf(on_float), _cmpi(on_int), _cmpi(on_bool), _cmpi(on_bool))


def _square_f(a: ir.Value) -> ir.Value:
    return arith.mulf(a, a)


def _sign_f(a: ir.Value) -> ir.Value:
    """1, -1 or 0, which has no sign; NaN stays."""
    zero = like(a, 0)
    nan_or_zero = arith.select(arith.cmpf(_FLOAT.OEQ, a, zero), zero, a)
    negative = arith.select(arith.cmpf(_FLOAT.OLT, a, zero), like(a, -1), nan_or_zero)
    return arith.select(arith.cmpf(_FLOAT.OGT, a, zero), like(a, 1), negative)


def _sign_i(a: ir.Value) -> ir.Value:
    zero = like(a, 0)
    negative = arith.select(arith.cmpi(_INT.slt, a, zero), like(a, -1), zero)
    return arith.select(arith.cmpi(_INT.sgt, a, zero), like(a, 1), negative)


def _remainder_f(a: ir.Value, b: ir.Value) -> ir.Value:
    """The remainder with the sign of the divisor; a zero has its sign as well."""
    return _divmod_f(a, b)[1]


def _floor_divide_f(a: ir.Value, b: ir.Value) -> ir.Value:
    return _divmod_f(a, b)[0]


def _divmod_f(a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    zero = like(a, 0)
    rest = arith.remf(a, b)
    quotient = arith.divf(arith.subf(a, rest), b)  # a whole number, but for rounding
    signs_differ = arith.cmpi(_INT.ne, arith.cmpf(_FLOAT.OLT, rest, zero), arith.cmpf(_FLOAT.OLT, b, zero))
    wrong = arith.andi(arith.cmpf(_FLOAT.UNE, rest, zero), signs_differ)
    quotient = arith.select(wrong, arith.subf(quotient, like(a, 1)), quotient)
    rest = arith.select(wrong, arith.addf(rest, b), rest)
    rest = arith.select(arith.cmpf(_FLOAT.OEQ, rest, zero), math.copysign(rest, b), rest)
    ratio = arith.divf(a, b)
    whole = math.roundeven(quotient)
    whole = arith.select(arith.cmpf(_FLOAT.OEQ, whole, zero), math.copysign(zero, ratio), whole)
    return arith.select(arith.cmpf(_FLOAT.OEQ, b, zero), ratio, whole), rest


def _floor_divide_i(a: ir.Value, b: ir.Value) -> ir.Value:
    """Rounded down; 0 where the divisor is 0, as NumPy has it."""
    by_zero = arith.cmpi(_INT.eq, b, like(b, 0))
    return arith.select(by_zero, like(a, 0), arith.floordivsi(a, arith.select(by_zero, like(b, 1), b)))


def _remainder_i(a: ir.Value, b: ir.Value) -> ir.Value:
    """With the sign of the divisor; 0 where the divisor is 0."""
    zero = like(a, 0)
    rest = arith.remsi(a, arith.select(arith.cmpi(_INT.eq, b, zero), like(b, 1), b))
    signs_differ = arith.cmpi(_INT.slt, arith.xori(rest, b), zero)
    wrong = arith.andi(arith.cmpi(_INT.ne, rest, zero), signs_differ)
    return arith.select(wrong, arith.addi(rest, b), rest)


def _fmod_i(a: ir.Value, b: ir.Value) -> ir.Value:
    """With the sign of the dividend; 0 where the divisor is 0."""
    by_zero = arith.cmpi(_INT.eq, b, like(b, 0))
    return arith.select(by_zero, like(a, 0), arith.remsi(a, arith.select(by_zero, like(b, 1), b)))


def _unless_by_zero(divide: ScalarOp) -> ScalarOp:
    """Division of unsigned integers, or its remainder: 0 where the divisor is 0."""

    def code(a: ir.Value, b: ir.Value) -> ir.Value:
        by_zero = arith.cmpi(_INT.eq, b, like(b, 0))
        return arith.select(by_zero, like(a, 0), divide(a, arith.select(by_zero, like(b, 1), b)))

    return code


def _power_u(a: ir.Value, b: ir.Value) -> ir.Value:
    """As ``a * a`` to half the power, which is no negative number, and once more ``a`` where the power is odd."""
    squares = math.ipowi(arith.muli(a, a), arith.shrui(b, like(b, 1)))
    odd = arith.cmpi(_INT.ne, arith.andi(b, like(b, 1)), like(b, 0))
    return arith.muli(squares, arith.select(odd, a, like(a, 1)))


def _in_width(a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.cmpi(_INT.ult, b, like(b, a.type.width))


def _left_shift(a: ir.Value, b: ir.Value) -> ir.Value:
    """0 where all bits are shifted out."""
    fits = _in_width(a, b)
    return arith.select(fits, arith.shli(a, arith.select(fits, b, like(b, 0))), like(a, 0))


def _right_shift(a: ir.Value, b: ir.Value) -> ir.Value:
    """Copies of the sign where all bits are shifted out."""
    return arith.shrsi(a, arith.minui(b, like(b, a.type.width - 1)))


def _right_shift_u(a: ir.Value, b: ir.Value) -> ir.Value:
    fits = _in_width(a, b)
    return arith.select(fits, arith.shrui(a, arith.select(fits, b, like(b, 0))), like(a, 0))


def _hypot(a: ir.Value, b: ir.Value) -> ir.Value:
    """Scaled by the larger one, so that squares do not overflow."""
    a, b = math.absf(a), math.absf(b)
    large, small = arith.maximumf(a, b), arith.minimumf(a, b)
    ratio = arith.divf(small, large)
    length = arith.mulf(large, math.sqrt(arith.addf(like(a, 1), arith.mulf(ratio, ratio))))
    # 0 / 0 and inf / inf have no ratio; a side that is infinite outweighs even NaN.
    length = arith.select(arith.cmpf(_FLOAT.OEQ, small, large), arith.mulf(large, like(a, 2**0.5)), length)
    infinity = like(a, float("inf"))
    infinite = arith.ori(arith.cmpf(_FLOAT.OEQ, a, infinity), arith.cmpf(_FLOAT.OEQ, b, infinity))
    return arith.select(infinite, infinity, length)


def _logaddexp(a: ir.Value, b: ir.Value) -> ir.Value:
    """The larger one is taken out of the sum, and exp does not overflow; in the form that ``ipu-raise-scans`` knows."""
    difference = arith.subf(a, b)
    rest = math.log1p(math.exp(arith.negf(math.absf(difference))))
    undefined = arith.cmpf(_FLOAT.UNE, difference, difference)  # inf - inf has no difference
    return arith.select(undefined, arith.addf(a, b), arith.addf(rest, arith.maximumf(a, b)))


def _logaddexp2(a: ir.Value, b: ir.Value) -> ir.Value:
    difference = arith.subf(a, b)
    rest = math.log1p(math.exp2(arith.negf(math.absf(difference))))
    undefined = arith.cmpf(_FLOAT.UNE, difference, difference)
    bits = arith.mulf(rest, like(a, 1.4426950408889634))
    return arith.select(undefined, arith.addf(a, b), arith.addf(bits, arith.maximumf(a, b)))


def _bits(a: ir.Value) -> ir.Value:
    """The bits of a float as an integer."""
    return arith.bitcast(ir.IntegerType.get_signless(a.type.width), a)


def _next_after(a: ir.Value, b: ir.Value) -> ir.Value:
    """The number beside ``a`` on the way to ``b``: its bits, as an integer, are one more or less."""
    zero = like(a, 0)
    outwards = arith.cmpi(_INT.eq, arith.cmpf(_FLOAT.OLT, a, b), arith.cmpf(_FLOAT.OGT, a, zero))
    bits = _bits(a)
    step = arith.select(outwards, like(bits, 1), like(bits, -1))
    moved = arith.bitcast(a.type, arith.addi(bits, step))
    smallest = arith.bitcast(a.type, like(bits, 1))
    moved = arith.select(arith.cmpf(_FLOAT.OEQ, a, zero), math.copysign(smallest, b), moved)
    moved = arith.select(arith.cmpf(_FLOAT.OEQ, a, b), b, moved)
    return arith.select(arith.cmpf(_FLOAT.UNO, a, b), arith.addf(a, b), moved)


def _spacing(a: ir.Value) -> ir.Value:
    """The distance to the next number away from 0, with the sign of ``a``."""
    return arith.subf(_next_after(a, math.copysign(like(a, float("inf")), a)), a)


def _heaviside(a: ir.Value, at_zero: ir.Value) -> ir.Value:
    zero = like(a, 0)
    step = arith.select(arith.cmpf(_FLOAT.OGT, a, zero), like(a, 1), zero)
    known = arith.select(arith.cmpf(_FLOAT.OEQ, a, zero), at_zero, step)
    return arith.select(arith.cmpf(_FLOAT.UNO, a, a), a, known)


def _fraction(a: ir.Value) -> ir.Value:
    """What is behind the point, with the sign of ``a``; nothing is behind that of infinity."""
    infinite = _is_infinite(a)
    rest = arith.subf(a, math.trunc(a))
    return math.copysign(arith.select(infinite, like(a, 0), rest), a)


def _count_bits(a: ir.Value) -> ir.Value:
    """The number of bits of an integer that are set; the type of the result is 8 bits wide."""
    count, byte = math.ctpop(a), ir.IntegerType.get_signless(8)
    return count if a.type.width == 8 else arith.trunci(byte, count)


def _ones_of_sign(a: ir.Value) -> ir.Value:
    """The condition that the sign is negative, also that of 0 and NaN."""
    return arith.cmpf(_FLOAT.OLT, math.copysign(like(a, 1), a), like(a, 0))


def _is_infinite(a: ir.Value) -> ir.Value:
    return arith.cmpf(_FLOAT.OEQ, math.absf(a), like(a, float("inf")))


def _is_finite(a: ir.Value) -> ir.Value:
    return arith.cmpf(_FLOAT.OLT, math.absf(a), like(a, float("inf")))


def _scaled(factor: float) -> Body:
    return Body(lambda a: arith.mulf(a, like(a, factor)))


BODIES: dict[str, Body] = {
    # arithmetic
    "add": Body(arith.addf, arith.addi, arith.ori),
    "subtract": Body(arith.subf, arith.subi),
    "multiply": Body(arith.mulf, arith.muli, arith.andi),
    "divide": Body(arith.divf),
    "floor_divide": Body(_floor_divide_f, _floor_divide_i, None, _unless_by_zero(arith.divui)),
    "remainder": Body(_remainder_f, _remainder_i, None, _unless_by_zero(arith.remui)),
    "fmod": Body(arith.remf, _fmod_i, None, _unless_by_zero(arith.remui)),
    "power": Body(math.powf, math.ipowi, None, _power_u),
    "float_power": Body(math.powf),
    "negative": Body(arith.negf, lambda a: arith.subi(like(a, 0), a)),
    "positive": Body(_identity, _identity),
    "conjugate": Body(_identity, _identity, _identity),
    "absolute": Body(math.absf, math.absi, _identity, _identity),
    "fabs": Body(math.absf),
    "sign": Body(_sign_f, _sign_i, None, lambda a: arith.minui(a, like(a, 1))),
    "square": Body(_square_f, lambda a: arith.muli(a, a), _identity),
    "reciprocal": Body(lambda a: arith.divf(like(a, 1), a)),
    "maximum": Body(arith.maximumf, arith.maxsi, arith.ori, arith.maxui),
    "minimum": Body(arith.minimumf, arith.minsi, arith.andi, arith.minui),
    "fmax": Body(arith.maxnumf, arith.maxsi, arith.ori, arith.maxui),
    "fmin": Body(arith.minnumf, arith.minsi, arith.andi, arith.minui),
    "copysign": Body(math.copysign),
    "hypot": Body(_hypot),
    "logaddexp": Body(_logaddexp),
    "logaddexp2": Body(_logaddexp2),
    "heaviside": Body(_heaviside),
    "nextafter": Body(_next_after),
    "spacing": Body(_spacing),
    "fraction": Body(_fraction),
    # exponentials and logarithms
    "exp": Body(math.exp),
    "exp2": Body(math.exp2),
    "expm1": Body(math.expm1),
    "log": Body(math.log),
    "log2": Body(math.log2),
    "log10": Body(math.log10),
    "log1p": Body(math.log1p),
    "sqrt": Body(math.sqrt),
    "cbrt": Body(math.cbrt),
    "erf": Body(math.erf),
    "erfc": Body(math.erfc),
    # angles
    "sin": Body(math.sin),
    "cos": Body(math.cos),
    "tan": Body(math.tan),
    "arcsin": Body(math.asin),
    "arccos": Body(math.acos),
    "arctan": Body(math.atan),
    "arctan2": Body(math.atan2),
    "sinh": Body(math.sinh),
    "cosh": Body(math.cosh),
    "tanh": Body(math.tanh),
    "arcsinh": Body(math.asinh),
    "arccosh": Body(math.acosh),
    "arctanh": Body(math.atanh),
    "degrees": _scaled(57.29577951308232),
    "rad2deg": _scaled(57.29577951308232),
    "radians": _scaled(0.017453292519943295),
    "deg2rad": _scaled(0.017453292519943295),
    # rounding
    "floor": Body(math.floor, _identity, _identity),
    "ceil": Body(math.ceil, _identity, _identity),
    "trunc": Body(math.trunc, _identity, _identity),
    "rint": Body(math.roundeven),
    # questions
    "equal": _compare(_FLOAT.OEQ, _INT.eq, _INT.eq),
    "not_equal": _compare(_FLOAT.UNE, _INT.ne, _INT.ne),
    "less": _compare(_FLOAT.OLT, _INT.slt, _INT.ult),
    "less_equal": _compare(_FLOAT.OLE, _INT.sle, _INT.ule),
    "greater": _compare(_FLOAT.OGT, _INT.sgt, _INT.ugt),
    "greater_equal": _compare(_FLOAT.OGE, _INT.sge, _INT.uge),
    "signbit": Body(_ones_of_sign),
    "isnan": Body(lambda a: arith.cmpf(_FLOAT.UNO, a, a), _false, _false),
    "isinf": Body(_is_infinite, _false, _false),
    "isfinite": Body(_is_finite, _true, _true),
    # logic and bits
    "logical_and": _logical(arith.andi),
    "logical_or": _logical(arith.ori),
    "logical_xor": _logical(arith.xori),
    "logical_not": Body(lambda a: _not(_truth_f(a)), lambda a: _not(_truth_i(a)), _not),
    "bitwise_and": Body(None, arith.andi, arith.andi),
    "bitwise_or": Body(None, arith.ori, arith.ori),
    "bitwise_xor": Body(None, arith.xori, arith.xori),
    "bitwise_count": Body(None, lambda a: _count_bits(math.absi(a)), None, _count_bits),
    "invert": Body(None, lambda a: arith.xori(a, like(a, -1)), _not),
    "left_shift": Body(None, _left_shift),
    "right_shift": Body(None, _right_shift, None, _right_shift_u),
}
