"""Scalar operations on arrays, where every library of every machine gives the same bits.

Sums, products, quotients and roots are rounded once; nothing else is. ``exp`` and its like are not here: their last bit
depends on who computes it. What MLIR leaves open, a division by zero or a float that no integer is near to, has no
value here either.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.matchers import predicate_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import is_narrow_float
from ipu_mlir.passes.normalize.folding.constant_arrays import Array, array_of, dtype_of

Function = Callable[..., Any]

_EXACT_IN_F32 = 2**24


def value_of(op: ir.Operation, operands: list[Array]) -> Array | None:
    """The result of the scalar ``op`` for every element of ``operands``, which broadcast; None if it is not known.

    Floats of 16 and 8 bits are computed in f32, which changes nothing of what is rounded to them.
    """
    if op.name == "arith.constant":
        return array_of(op.attributes["value"])
    dtype = dtype_of(op.results[0].type) if len(op.results) == 1 else None
    if dtype is None:
        return None
    with np.errstate(all="ignore"):
        if op.name in FLOATS:
            return np.asarray(FLOATS[op.name](*map(_wide, operands))).astype(dtype)
        if op.name in INTEGERS:
            read, function = INTEGERS[op.name]
            return _wrapped(function(*map(read, operands)), dtype)
        if op.name in SHIFTS:
            read, function = SHIFTS[op.name]
            value = read(operands[0])
            return _wrapped(function(value, _unsigned(operands[1]).astype(value.dtype)), dtype)
        other = _OTHERS.get(op.name)
        return None if other is None else other(op, operands, dtype)


def _wide(x: Array) -> Array:
    return x.astype(np.float32) if x.itemsize < 4 else x


def _signed(x: Array) -> Array:
    """``x`` read as signed numbers: true is -1."""
    return -x.astype(np.int8) if x.dtype == np.bool_ else x


def _unsigned(x: Array) -> Array:
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(f"u{x.itemsize}")


def _wrapped(x: Any, dtype: np.dtype[Any]) -> Array:
    """The low bits of integers."""
    found = np.asarray(x)
    return (found & 1).astype(np.bool_) if dtype == np.bool_ else found.astype(dtype)


def _maximum(a: Array, b: Array) -> Array:
    """The larger one; NaN if either is NaN; +0 is larger than -0."""
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), np.maximum(a, b))


def _minimum(a: Array, b: Array) -> Array:
    """The smaller one; NaN if either is NaN; -0 is smaller than +0."""
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), a, b), np.minimum(a, b))


def _number_of(function: Function) -> Function:
    """``function`` of two numbers; the other one if one is NaN."""
    return lambda a, b: np.where(np.isnan(a), b, np.where(np.isnan(b), a, function(a, b)))


FLOATS: dict[str, Function] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.negf": np.negative,
    "arith.maximumf": _maximum,
    "arith.minimumf": _minimum,
    "arith.maxnumf": _number_of(_maximum),
    "arith.minnumf": _number_of(_minimum),
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.copysign": np.copysign,
    "math.floor": np.floor,
    "math.roundeven": np.rint,
    "math.rsqrt": lambda x: np.divide(x.dtype.type(1), np.sqrt(x)),
    "math.sqrt": np.sqrt,
    "math.trunc": np.trunc,
}
INTEGERS: dict[str, tuple[Function, Function]] = {
    "arith.addi": (_unsigned, np.add),
    "arith.subi": (_unsigned, np.subtract),
    "arith.muli": (_unsigned, np.multiply),
    "arith.andi": (_unsigned, np.bitwise_and),
    "arith.ori": (_unsigned, np.bitwise_or),
    "arith.xori": (_unsigned, np.bitwise_xor),
    "arith.maxsi": (_signed, np.maximum),
    "arith.minsi": (_signed, np.minimum),
    "arith.maxui": (_unsigned, np.maximum),
    "arith.minui": (_unsigned, np.minimum),
    "arith.extsi": (_signed, np.asarray),
    "arith.extui": (_unsigned, np.asarray),
    "arith.trunci": (_unsigned, np.asarray),
    "arith.index_cast": (_signed, np.asarray),
    "arith.index_castui": (_unsigned, np.asarray),
    "math.absi": (_signed, np.abs),
}
SHIFTS: dict[str, tuple[Function, Function]] = {
    "arith.shli": (_unsigned, np.left_shift),
    "arith.shrui": (_unsigned, np.right_shift),
    "arith.shrsi": (_signed, np.right_shift),
}
_RELATIONS: dict[str, Function] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _compare_integers(op: ir.Operation, operands: list[Array], dtype: np.dtype[Any]) -> Array:
    name = predicate_of(op)
    read = _unsigned if name[0] == "u" else _signed
    return np.asarray(_RELATIONS[name[-2:]](*map(read, operands)))


def _compare_floats(op: ir.Operation, operands: list[Array], dtype: np.dtype[Any]) -> Array:
    name, (a, b) = predicate_of(op), map(_wide, operands)
    unordered = np.isnan(a) | np.isnan(b)
    if name in ("true", "false"):
        return np.full(unordered.shape, name == "true")
    if name in ("ord", "uno"):
        return np.asarray(unordered == (name == "uno"))
    related = _RELATIONS[name[1:]](a, b)
    return np.asarray(related | unordered if name[0] == "u" else related & ~unordered)


def _round(op: ir.Operation, operands: list[Array], dtype: np.dtype[Any]) -> Array | None:
    """Another float; None for f64 to a type of ml_dtypes, which would round twice, and for modes of rounding."""
    if "roundingmode" in op.attributes or (operands[0].itemsize == 8 and dtype.isbuiltin != 1):
        return None
    return _wide(operands[0]).astype(dtype)


def _float_of(read: Function) -> Function:
    def convert(op: ir.Operation, operands: list[Array], dtype: np.dtype[Any]) -> Array | None:
        numbers = read(operands[0])
        if not is_narrow_float(str(op.results[0].type)):
            return np.asarray(numbers.astype(dtype))
        is_exact = numbers.size == 0 or max(abs(int(numbers.min())), int(numbers.max())) <= _EXACT_IN_F32
        return numbers.astype(np.float32).astype(dtype) if is_exact else None

    return convert


def _integer_of(lowest: Callable[[int], int], highest: Callable[[int], int]) -> Function:
    """The integer part of floats, if the type has all of them."""

    def convert(op: ir.Operation, operands: list[Array], dtype: np.dtype[Any]) -> Array | None:
        width = 1 if dtype == np.bool_ else 8 * dtype.itemsize
        whole = np.trunc(_wide(operands[0]).astype(np.float64))
        if width == 64 or not ((whole >= lowest(width)) & (whole <= highest(width))).all():
            return None
        return _wrapped(whole.astype(np.int64), dtype)

    return convert


def _bits(op: ir.Operation, operands: list[Array], dtype: np.dtype[Any]) -> Array | None:
    """The same bits; None for those of a NaN, which may be any NaN's."""
    (x,) = operands
    if np.bool_ in (x.dtype, dtype) or (x != x).any():
        return None
    return np.ascontiguousarray(x).view(dtype)


_OTHERS: dict[str, Callable[[ir.Operation, list[Array], np.dtype[Any]], Array | None]] = {
    "arith.bitcast": _bits,
    "arith.cmpf": _compare_floats,
    "arith.cmpi": _compare_integers,
    "arith.extf": _round,
    "arith.fptosi": _integer_of(lambda width: -(1 << width - 1), lambda width: (1 << width - 1) - 1),
    "arith.fptoui": _integer_of(lambda width: 0, lambda width: (1 << width) - 1),
    "arith.select": lambda op, operands, dtype: np.where(*operands),
    "arith.sitofp": _float_of(_signed),
    "arith.truncf": _round,
    "arith.uitofp": _float_of(_unsigned),
}
