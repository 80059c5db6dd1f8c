"""``arith`` and ``math`` on integers: two's complement with wrap-around, on NumPy arrays.

MLIR's integers have no sign: the operation says how bits are read. They lie in signed dtypes; i1 lies in booleans,
where a signed reading of true is -1. Where MLIR leaves the result open (division by zero, shifts by the width or
more), these give 0, and for a shift right of a negative number -1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

_UNSIGNED = {np.dtype(f"{kind}{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8) for kind in "iu"}


def signed(x: Array) -> Array:
    """``x`` read as signed numbers."""
    return -x.astype(np.int8) if x.dtype == np.bool_ else x


def unsigned(x: Array) -> Array:
    """``x`` read as unsigned numbers."""
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(_UNSIGNED[x.dtype])


def wrap(x: Array, dtype: np.dtype[Any]) -> Array:
    """The low bits of integer ``x`` as ``dtype``."""
    return (x & 1).astype(np.bool_) if dtype == np.bool_ else x.astype(dtype)


def divide_towards_zero(a: Array, b: Array) -> Array:
    quotient = np.floor_divide(a, b)
    return quotient + ((np.fmod(a, b) != 0) & ((a < 0) != (b < 0)) & (b != 0)).astype(quotient.dtype)


def divide_up(a: Array, b: Array) -> Array:
    quotient = np.floor_divide(a, b)
    return quotient + ((np.fmod(a, b) != 0) & (b != 0)).astype(quotient.dtype)


def leading_zeros(x: Array) -> Array:
    bits = _bits(x)
    return np.argmax(np.concatenate([bits, np.ones((1, *bits.shape[1:]), bool)]), axis=0).astype(x.dtype)


def trailing_zeros(x: Array) -> Array:
    bits = _bits(x)[::-1]
    return np.argmax(np.concatenate([bits, np.ones((1, *bits.shape[1:]), bool)]), axis=0).astype(x.dtype)


def count_ones(x: Array) -> Array:
    return _bits(x).sum(axis=0).astype(x.dtype)


def power(base: Array, exponent: Array) -> Array:
    """``base ** exponent`` with wrap-around; a negative exponent gives the integer part of the reciprocal."""
    result, square, rest = np.ones_like(base), base, np.where(exponent < 0, 0, exponent)
    for _ in range(8 * base.dtype.itemsize):
        result = np.where(rest & 1, result * square, result)
        square, rest = square * square, rest >> 1
    sign_of_odd = np.where(exponent & 1, -1, 1).astype(base.dtype)
    reciprocal = np.where(base == 1, 1, np.where(base == -1, sign_of_odd, 0)).astype(base.dtype)
    return np.where(exponent < 0, reciprocal, result)


def _bits(x: Array) -> Array:
    """The bits of ``x``, highest first, along a new first axis."""
    width = 1 if x.dtype == np.bool_ else 8 * x.dtype.itemsize
    values = np.asarray(unsigned(x))
    shifts = np.arange(width - 1, -1, -1, dtype=values.dtype).reshape(-1, *(1,) * values.ndim)
    return (values[None] >> shifts & 1).astype(bool)


def _reading(read: Callable[[Array], Array], function: Callable[..., Array]) -> Callable[[ir.OpView], Function]:
    """``function`` on operands read by ``read``, with the result wrapped to the operands' type."""

    def run(*operands: Array) -> Array:
        return wrap(function(*(read(x) for x in operands)), operands[0].dtype)

    return lambda op: run


def _shift(read: Callable[[Array], Array], function: Callable[..., Array]) -> Callable[[ir.OpView], Function]:
    """A shift of the value that ``read`` gives, by an amount that is always unsigned."""

    def run(value: Array, amount: Array) -> Array:
        bits = read(value)
        return wrap(function(bits, unsigned(amount).astype(bits.dtype)), value.dtype)

    return lambda op: run


def _add_extended(a: Array, b: Array) -> tuple[Array, Array]:
    total = wrap(unsigned(a) + unsigned(b), a.dtype)
    return total, np.less(unsigned(total), unsigned(a))


def _multiply_extended(read: Callable[[Array], Array]) -> Callable[[ir.OpView], Function]:
    """Low and high half of the full product, through Python's unbounded integers."""

    def run(a: Array, b: Array) -> tuple[Array, Array]:
        width = 1 if a.dtype == np.bool_ else 8 * a.dtype.itemsize
        product = np.asarray(read(a)).astype(object) * np.asarray(read(b)).astype(object)

        def half(x: Array) -> Array:
            x = np.asarray(x, object) & (1 << width) - 1
            return wrap(x.astype(np.uint64), a.dtype)

        return half(product), half(product >> width)

    return lambda op: run


_PREDICATES: tuple[tuple[Callable[[Array], Array], Callable[..., Array]], ...] = (
    (unsigned, np.equal),
    (unsigned, np.not_equal),
    (signed, np.less),
    (signed, np.less_equal),
    (signed, np.greater),
    (signed, np.greater_equal),
    (unsigned, np.less),
    (unsigned, np.less_equal),
    (unsigned, np.greater),
    (unsigned, np.greater_equal),
)


def _compare(op: ir.OpView) -> Function:
    read, function = _PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    return lambda a, b: function(read(a), read(b))


INTEGER_OPS: dict[str, Callable[[ir.OpView], Function]] = {
    "arith.addi": _reading(unsigned, np.add),
    "arith.subi": _reading(unsigned, np.subtract),
    "arith.muli": _reading(unsigned, np.multiply),
    "arith.divsi": _reading(signed, divide_towards_zero),
    "arith.divui": _reading(unsigned, np.floor_divide),
    "arith.floordivsi": _reading(signed, np.floor_divide),
    "arith.ceildivsi": _reading(signed, divide_up),
    "arith.ceildivui": _reading(unsigned, divide_up),
    "arith.remsi": _reading(signed, np.fmod),
    "arith.remui": _reading(unsigned, np.fmod),
    "arith.andi": _reading(unsigned, np.bitwise_and),
    "arith.ori": _reading(unsigned, np.bitwise_or),
    "arith.xori": _reading(unsigned, np.bitwise_xor),
    "arith.shli": _shift(unsigned, np.left_shift),
    "arith.shrui": _shift(unsigned, np.right_shift),
    "arith.shrsi": _shift(signed, np.right_shift),
    "arith.maxsi": _reading(signed, np.maximum),
    "arith.minsi": _reading(signed, np.minimum),
    "arith.maxui": _reading(unsigned, np.maximum),
    "arith.minui": _reading(unsigned, np.minimum),
    "arith.cmpi": _compare,
    "arith.addui_extended": lambda op: _add_extended,
    "arith.mulsi_extended": _multiply_extended(signed),
    "arith.mului_extended": _multiply_extended(unsigned),
    "math.absi": _reading(signed, np.abs),
    "math.ipowi": _reading(signed, power),
    "math.ctlz": lambda op: leading_zeros,
    "math.cttz": lambda op: trailing_zeros,
    "math.ctpop": lambda op: count_ones,
}
