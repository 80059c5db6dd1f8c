"""``arith`` and ``math`` on floats, on NumPy arrays: each operation rounds to the type of its operands."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.scalar.element_types import dtype_of, narrow_float
from ipu_mlir.runtime.per_tile.scalar.narrow_floats import smallest_normal

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


def maximum(a: Array, b: Array) -> Array:
    """The larger one; NaN if either is NaN; +0 is larger than -0."""
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), np.maximum(a, b))


def minimum(a: Array, b: Array) -> Array:
    """The smaller one; NaN if either is NaN; -0 is smaller than +0."""
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), a, b), np.minimum(a, b))


def maximum_number(a: Array, b: Array) -> Array:
    """The larger one; the other one if one is NaN."""
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, maximum(a, b)))


def minimum_number(a: Array, b: Array) -> Array:
    """The smaller one; the other one if one is NaN."""
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, minimum(a, b)))


def round_half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(np.ones_like(x), x), whole)


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` in f64, rounded to odd, so that rounding once more gives what the exact number would.

    That is so for all narrower types: their product is exact in f64. That of two f64 is rounded, and then the sum.

    Source: the error of a sum is Knuth's; rounding to odd, Boldo and Melquiond, "When double rounding is odd" (2005).
    """
    product, addend = np.asarray(a, np.float64) * np.asarray(b, np.float64), np.asarray(c, np.float64)
    total = np.asarray(product + addend)
    if a.dtype == np.float64:
        return total
    part = total - product
    error = (product - (total - part)) + (addend - part)
    is_even = total.view(np.int64) & 1 == 0
    return np.where((error != 0) & np.isfinite(error) & is_even, np.nextafter(total, np.copysign(np.inf, error)), total)


def integer_power(base: Array, exponent: Array) -> Array:
    """``base ** exponent`` for an integer exponent of any width, by repeated squaring in f64."""
    wide, rest = np.asarray(base).astype(np.float64), np.abs(np.asarray(exponent).astype(np.int64))
    result = np.ones(np.broadcast_shapes(wide.shape, rest.shape))
    while np.any(rest):
        result = np.where(rest & 1, result * wide, result)
        wide, rest = wide * wide, rest >> 1
    return np.where(exponent < 0, 1 / result, result).astype(base.dtype)


def _is_normal(op: ir.OpView) -> Function:
    """Finite, and not so small that precision is lost."""
    name = narrow_float(op.operands[0].type)
    least = smallest_normal(name) if name else np.finfo(dtype_of(op.operands[0].type)).tiny
    return lambda x: np.isfinite(x) & (np.abs(x) >= least)


def _pointwise(function: Callable[[float], float]) -> Function:
    """A function of Python floats on every element, rounded once from f64."""
    everywhere = np.vectorize(function, otypes=[np.float64])

    def run(x: Array) -> Array:
        return everywhere(x).astype(x.dtype) if np.size(x) else x

    return run


def _one(function: Function) -> Callable[[ir.OpView], Function]:
    return lambda op: function


def _is_unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


_ORDERED = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal)


def _compare(op: ir.OpView) -> Function:
    """Predicates: false, the ordered ones (oeq ogt oge olt ole one ord), the same unordered, true."""
    number = ir.IntegerAttr(op.attributes["predicate"]).value
    if number in (0, 15):
        return lambda a, b: np.full(np.broadcast_shapes(np.shape(a), np.shape(b)), number == 15)
    if number == 7:
        return lambda a, b: ~_is_unordered(a, b)
    if number == 14:
        return _is_unordered
    if number == 6:
        return lambda a, b: (a != b) & ~_is_unordered(a, b)
    if number == 13:
        return np.not_equal
    if number < 7:
        return _ORDERED[number - 1]
    return lambda a, b: _ORDERED[number - 8](a, b) | _is_unordered(a, b)


FLOAT_OPS: dict[str, Callable[[ir.OpView], Function]] = {
    "arith.addf": _one(np.add),
    "arith.subf": _one(np.subtract),
    "arith.mulf": _one(np.multiply),
    "arith.divf": _one(np.divide),
    "arith.remf": _one(np.fmod),
    "arith.negf": _one(np.negative),
    "arith.maximumf": _one(maximum),
    "arith.minimumf": _one(minimum),
    "arith.maxnumf": _one(maximum_number),
    "arith.minnumf": _one(minimum_number),
    "arith.cmpf": _compare,
    "math.absf": _one(np.abs),
    "math.acos": _one(np.arccos),
    "math.acosh": _one(np.arccosh),
    "math.asin": _one(np.arcsin),
    "math.asinh": _one(np.arcsinh),
    "math.atan": _one(np.arctan),
    "math.atan2": _one(np.arctan2),
    "math.atanh": _one(np.arctanh),
    "math.cbrt": _one(lambda x: np.cbrt(x).astype(x.dtype)),
    "math.ceil": _one(np.ceil),
    "math.clampf": _one(lambda x, low, high: minimum(maximum(x, low), high)),
    "math.copysign": _one(np.copysign),
    "math.cos": _one(np.cos),
    "math.cosh": _one(np.cosh),
    "math.erf": _one(_pointwise(math.erf)),
    "math.erfc": _one(_pointwise(math.erfc)),
    "math.exp": _one(np.exp),
    "math.exp2": _one(np.exp2),
    "math.expm1": _one(np.expm1),
    "math.floor": _one(np.floor),
    "math.fma": _one(fused_multiply_add),
    "math.fpowi": _one(integer_power),
    "math.isfinite": _one(np.isfinite),
    "math.isinf": _one(np.isinf),
    "math.isnan": _one(np.isnan),
    "math.isnormal": _is_normal,
    "math.log": _one(np.log),
    "math.log10": _one(np.log10),
    "math.log1p": _one(np.log1p),
    "math.log2": _one(np.log2),
    "math.powf": _one(np.power),
    "math.round": _one(round_half_away),
    "math.roundeven": _one(np.rint),
    "math.rsqrt": _one(lambda x: np.divide(x.dtype.type(1), np.sqrt(x))),
    "math.sin": _one(np.sin),
    "math.sinh": _one(np.sinh),
    "math.sqrt": _one(np.sqrt),
    "math.tan": _one(np.tan),
    "math.tanh": _one(np.tanh),
    "math.trunc": _one(np.trunc),
}
