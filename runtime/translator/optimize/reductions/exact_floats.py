"""Sums of products of integers as products of matrices of floats, which BLAS does a hundred times as fast.

A float holds every integer up to 2 to the power of its mantissa, so no sum of products below that is rounded, in
whatever order it is made. Sums that may leave their own type wrap around afterwards. Factors of which too little is
known are cut in halves of 16 bits: ``a * b`` is, modulo 2^32, ``al * bl + (ah * bl + al * bh) * 2^16``.
"""

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.statements.access import Access, temporary
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, Read, apply, cast
from ipu_mlir.runtime.translator.statements.intervals import Interval, Ranges
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise, Fold, Reduce, Statement
from ipu_mlir.runtime.translator.statements.transform import parallel_extents, with_loop_split
from ipu_mlir.runtime.translator.statements.types import is_integer

_FEWEST_PRODUCTS = 1 << 14  # 16 x 32 x 32 take 12 us in integers; below, the conversions take longer
_SHORTEST_PIECE = 128  # products per sum; below, converting and adding the pieces takes longer than products in f64
_I32, _I64 = np.dtype(np.int32), np.dtype(np.int64)
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_EXACT = ((_F32, 2**24), (_F64, 2**53))

InMemory = Callable[[Expression, str, list[Statement]], Access]


def exact_product(fold: Fold, a: Expression, b: Expression, out: Access, in_memory: InMemory) -> list[Statement] | None:
    """``out <- sum of a * b`` with floats; None if they cannot be exact, or do not pay.

    Args:
        in_memory: gives the access to a factor, and appends what computes it.
    """
    if not is_integer(a.dtype) or a.dtype != b.dtype or prod(fold.extents) < _FEWEST_PRODUCTS:
        return None
    ranges = Ranges(fold.extents)
    length = prod(n for n, reduced in zip(fold.extents, fold.reduced, strict=True) if reduced)
    statements: list[Statement] = []
    bounds = ranges.of(a), ranges.of(b)
    if bounds[0] is not None and bounds[1] is not None:
        largest = length * _size(bounds[0]) * _size(bounds[1])
        kind = next((dtype for dtype, limit in _EXACT if largest <= limit), None)
        if kind != _F32 and (at := _piece(fold, largest // length)) is not None:
            return _in_pieces(fold, _plain(a), _plain(b), out, at, in_memory)
        if kind is not None:
            total = _dot(fold, _plain(a), _plain(b), kind, in_memory, statements)
            fits = largest <= np.iinfo(a.dtype).max
            return [*statements, _stored(fold, out, _integer(total, a.dtype, fits))]
    if a.dtype != _I32 or length > 2**20:
        return None
    sixteen, mask = Const.of(16, _I32), Const.of(0xFFFF, _I32)
    low_a, low_b = apply("bitwise_and", a, mask), apply("bitwise_and", b, mask)
    high_a, high_b = apply("right_shift", a, sixteen), apply("right_shift", b, sixteen)
    low = _dot(fold, low_a, low_b, _F64, in_memory, statements)
    mixed = [_dot(fold, x, y, _F64, in_memory, statements) for x, y in ((high_a, low_b), (low_a, high_b))]
    high = apply("left_shift", _integer(apply("add", *mixed), _I32, False), sixteen)
    return [*statements, _stored(fold, out, apply("add", _integer(low, _I32, False), high))]


def _piece(fold: Fold, product: int) -> tuple[int, int] | None:
    """A reduced loop, and how much of it can be summed in f32 at once if no product is larger than ``product``."""
    loops = [loop for loop, n in enumerate(fold.extents) if fold.reduced[loop] and n > 1]
    if len(loops) != 1:
        return None
    (loop,) = loops
    longest = min(_EXACT[0][1] // product, fold.extents[loop] // 2)
    inner = next((n for n in range(longest, _SHORTEST_PIECE - 1, -1) if fold.extents[loop] % n == 0), None)
    return None if inner is None else (loop, inner)


def _in_pieces(
    fold: Fold, a: Expression, b: Expression, out: Access, at: tuple[int, int], in_memory: InMemory
) -> list[Statement]:
    """``out <- sum of a * b`` in f32, piece by piece; the sums of the pieces are integers, which wrap around."""
    loop, inner = at
    statements: list[Statement] = []
    factor_a, factor_b = (in_memory(cast(x, _F32), name, statements) for x, name in ((a, "lhs"), (b, "rhs")))
    whole = with_loop_split(Dot(fold.extents, fold.origin, factor_a, factor_b, out), loop, inner)
    assert isinstance(whole, Dot)
    extents = (*whole.extents[: loop + 1], 1, *whole.extents[loop + 2 :])
    reduced = tuple(other == loop for other in range(len(extents)))
    moving = [loop, *(other for other, stride in enumerate(whole.out.strides) if stride)]
    sums = temporary(f"{out.buffer.name}_exact", _F32, extents, moving)
    integers = temporary(f"{out.buffer.name}_pieces", out.buffer.dtype, extents, moving)
    return [
        *statements,
        replace(whole, out=sums),
        Elementwise(
            extents,
            fold.origin,
            (integers,),
            (_integer(Read(_F32, sums), out.buffer.dtype, out.buffer.dtype.itemsize >= 4),),
        ),
        Reduce(extents, fold.origin, reduced, "add", integers, whole.out),
    ]


def _size(interval: Interval) -> int:
    return max(abs(interval[0]), abs(interval[1]))


def _plain(factor: Expression) -> Expression:
    """``factor`` before it was converted to a wider integer."""
    while isinstance(factor, Apply) and factor.call == "cast" and is_integer(factor.args[0].dtype):
        (inner,) = factor.args
        if not np.can_cast(inner.dtype, factor.dtype):
            break
        factor = inner
    return factor


def _dot(
    fold: Fold, a: Expression, b: Expression, kind: np.dtype, in_memory: InMemory, statements: list[Statement]
) -> Expression:
    """The sum of products, as a float of type ``kind``."""
    factor_a, factor_b = (in_memory(cast(x, kind), name, statements) for x, name in ((a, "lhs"), (b, "rhs")))
    loops = [loop for loop, n in enumerate(parallel_extents(fold)) if n > 1]
    total = temporary(f"{fold.outputs[0].buffer.name}_exact", kind, fold.extents, loops)
    statements.append(Dot(fold.extents, fold.origin, factor_a, factor_b, total))
    return Read(kind, total)


def _integer(total: Expression, dtype: np.dtype, fits: bool) -> Expression:
    """``total``, a whole number below 2^53, as an integer that wraps around."""
    return cast(total if fits else cast(total, _I64), dtype)


def _stored(fold: Fold, out: Access, value: Expression) -> Statement:
    return Elementwise(parallel_extents(fold), fold.origin, (out,), (value,))
