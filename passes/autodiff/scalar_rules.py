"""Derivatives of scalar ops of ``arith`` and ``math``: one rule for each op.

A rule takes the operands of the op, its result and the cotangent of the result, and gives the cotangent of each
operand, None where the derivative is zero. Where a function has no derivative, the rule gives what JAX gives.
"""

import sys
from collections.abc import Callable, Sequence
from math import pi

from ipu_mlir.dialects.analysis.matchers import defining_op, float_of, predicate_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute

arith, math = upstream("arith"), upstream("math")

Rule = Callable[[Sequence[ir.Value], ir.Value, ir.Value], list[ir.Value | None]]

_IS = arith.CmpFPredicate


def number_like(value: ir.Value, number: float) -> ir.Value:
    """The constant ``number`` of the type of ``value``."""
    return arith.constant(value.type, scalar_attribute(value.type, number))


def _add(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    return [ct, ct]


def _sub(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    return [ct, arith.negf(ct)]


def _mul(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    a, b = values
    return [arith.mulf(ct, b), arith.mulf(ct, a)]


def _div(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    _, b = values
    each = arith.divf(ct, b)
    return [each, arith.negf(arith.mulf(each, result))]


def _rem(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    a, b = values
    return [ct, arith.negf(arith.mulf(ct, math.trunc(arith.divf(a, b))))]


def _extreme(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    """To the operand that is the result; half to each of two that are equal, and nothing to one that equals 0."""
    a, b = values
    is_rectifier = any(float_of(each) == 0 for each in values)
    zero, half = number_like(ct, 0), arith.mulf(ct, number_like(ct, 0 if is_rectifier else 0.5))
    tie = arith.cmpf(_IS.OEQ, a, b)
    found: list[ir.Value | None] = []
    for each in (a, b):
        whole = arith.select(arith.cmpf(_IS.OEQ, each, result), ct, zero)
        found.append(arith.select(tie, half, whole))
    return found


def _select(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    """To the operand that is chosen; ``x == 0 ? copysign(x, y) : x`` is x."""
    condition, chosen, other = values
    compared, signed = defining_op(condition, "arith.cmpf"), defining_op(chosen, "math.copysign")
    if compared is not None and predicate_of(compared) == "oeq" and signed is not None and signed.operands[0] == other:
        number, zero = compared.operands
        if number == other and float_of(zero) == 0:
            return [None, None, ct]
    zero = number_like(ct, 0)
    return [None, arith.select(values[0], ct, zero), arith.select(values[0], zero, ct)]


def _power(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    """As JAX: the derivative by the base is 0 where the exponent is 0, that by the exponent 0 where the base is 0."""
    base, exponent = values
    zero, one = number_like(ct, 0), number_like(ct, 1)
    flat = arith.cmpf(_IS.OEQ, exponent, zero)
    lower = arith.select(flat, one, arith.subf(exponent, one))
    by_base = arith.mulf(ct, arith.mulf(exponent, math.powf(base, lower)))
    logarithm = math.log(arith.select(arith.cmpf(_IS.OEQ, base, zero), one, base))
    return [by_base, arith.mulf(ct, arith.mulf(logarithm, result))]


def _integer_power(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    base, exponent = values
    one = arith.constant(exponent.type, 1)
    lower = math.fpowi(base, arith.subi(exponent, one))
    scale = arith.mulf(arith.sitofp(ct.type, exponent), lower)
    flat = arith.cmpi(arith.CmpIPredicate.eq, exponent, arith.constant(exponent.type, 0))
    return [arith.mulf(ct, arith.select(flat, number_like(ct, 0), scale)), None]


def _fma(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    return [*_mul(values[:2], result, ct), ct]


def _arctangent2(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    y, x = values
    each = arith.divf(ct, arith.addf(arith.mulf(x, x), arith.mulf(y, y)))
    return [arith.mulf(each, x), arith.negf(arith.mulf(each, y))]


def _copysign(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    size, sign = values
    one = number_like(ct, 1)
    turned = arith.mulf(math.copysign(one, size), math.copysign(one, sign))
    return [arith.mulf(ct, turned), None]


def _absolute(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    """0 at 0, as the sign."""
    (x,) = values
    zero = number_like(ct, 0)
    positive = arith.select(arith.cmpf(_IS.OGT, x, zero), ct, zero)
    return [arith.select(arith.cmpf(_IS.OLT, x, zero), arith.negf(ct), positive)]


def _cast(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    """Back to the type of the operand: rounded if that is the narrower one."""
    there = values[0].type
    widens = ir.FloatType(there).width > ir.FloatType(ct.type).width
    return [arith.extf(there, ct) if widens else arith.truncf(there, ct)]


def _scaled(by: Callable[[ir.Value, ir.Value], ir.Value]) -> Rule:
    """Of a function of one number whose derivative ``by`` gives from the number and the result."""
    return lambda values, result, ct: [arith.mulf(ct, by(values[0], result))]


def _one_over(by: Callable[[ir.Value], ir.Value]) -> Rule:
    """Of a function of one number whose derivative is one over what ``by`` gives from the number."""
    return lambda values, result, ct: [arith.divf(ct, by(values[0]))]


def _none(values: Sequence[ir.Value], result: ir.Value, ct: ir.Value) -> list[ir.Value | None]:
    return [None for _ in values]


def _square(x: ir.Value) -> ir.Value:
    return arith.mulf(x, x)


def _one_minus(x: ir.Value) -> ir.Value:
    return arith.subf(number_like(x, 1), x)


def _one_plus(x: ir.Value) -> ir.Value:
    return arith.addf(number_like(x, 1), x)


def _times(x: ir.Value, number: float) -> ir.Value:
    return arith.mulf(x, number_like(x, number))


def _finite(x: ir.Value) -> ir.Value:
    """``x``, or the largest finite number in place of infinity: in the gradient of ``1 / (1 + exp(-x))``, a power of e
    that overflows is multiplied by 0.
    """
    largest = _LARGEST.get(str(x.type))
    return x if largest is None else arith.minimumf(x, number_like(x, largest))


_LARGEST = {"f16": 65504.0, "bf16": 2.0**127 * 1.9921875, "f32": 2.0**127 * (2 - 2.0**-23), "f64": sys.float_info.max}


def _bell(x: ir.Value) -> ir.Value:
    """The derivative of erf."""
    return _times(math.exp(arith.negf(_square(x))), 2 / pi**0.5)


_LOG_2, _LOG_10 = 0.6931471805599453, 2.302585092994046

SCALAR_RULES: dict[str, Rule] = {
    "arith.addf": _add,
    "arith.subf": _sub,
    "arith.mulf": _mul,
    "arith.divf": _div,
    "arith.remf": _rem,
    "arith.negf": lambda values, result, ct: [arith.negf(ct)],
    **dict.fromkeys(("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"), _extreme),
    "arith.select": _select,
    **dict.fromkeys(("arith.extf", "arith.truncf"), _cast),
    "math.absf": _absolute,
    "math.powf": _power,
    "math.fpowi": _integer_power,
    "math.fma": _fma,
    "math.atan2": _arctangent2,
    "math.copysign": _copysign,
    "math.exp": _scaled(lambda x, y: _finite(y)),
    "math.exp2": _scaled(lambda x, y: _times(_finite(y), _LOG_2)),
    "math.expm1": _scaled(lambda x, y: _one_plus(y)),
    "math.log": _one_over(lambda x: x),
    "math.log2": _one_over(lambda x: _times(x, _LOG_2)),
    "math.log10": _one_over(lambda x: _times(x, _LOG_10)),
    "math.log1p": _one_over(_one_plus),
    "math.sqrt": lambda values, result, ct: [arith.divf(_times(ct, 0.5), result)],
    "math.rsqrt": _scaled(lambda x, y: arith.divf(_times(y, -0.5), x)),
    "math.cbrt": lambda values, result, ct: [arith.divf(ct, _times(_square(result), 3))],
    "math.sin": _scaled(lambda x, y: math.cos(x)),
    "math.cos": lambda values, result, ct: [arith.negf(arith.mulf(ct, math.sin(values[0])))],
    "math.tan": _scaled(lambda x, y: _one_plus(_square(y))),
    "math.asin": _scaled(lambda x, y: math.rsqrt(_one_minus(_square(x)))),
    "math.acos": _scaled(lambda x, y: arith.negf(math.rsqrt(_one_minus(_square(x))))),
    "math.atan": _one_over(lambda x: _one_plus(_square(x))),
    "math.sinh": _scaled(lambda x, y: math.cosh(x)),
    "math.cosh": _scaled(lambda x, y: math.sinh(x)),
    "math.tanh": _scaled(lambda x, y: _one_minus(_square(y))),
    "math.asinh": _scaled(lambda x, y: math.rsqrt(_one_plus(_square(x)))),
    "math.acosh": _scaled(
        lambda x, y: arith.mulf(math.rsqrt(_one_plus(x)), math.rsqrt(arith.subf(x, number_like(x, 1))))
    ),
    "math.atanh": _one_over(lambda x: _one_minus(_square(x))),
    "math.erf": _scaled(lambda x, y: _bell(x)),
    "math.erfc": _scaled(lambda x, y: arith.negf(_bell(x))),
    **dict.fromkeys(("math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc"), _none),
    **dict.fromkeys(("arith.bitcast", "arith.sitofp", "arith.uitofp", "arith.constant"), _none),
}
"""By the name of the op."""
