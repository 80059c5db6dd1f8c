"""What a kernel saves of the time that NumPy takes for statements."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from ipu_mlir.runtime.translator.kernels.control import CODELETS, points
from ipu_mlir.runtime.translator.kernels.extremes import extreme_us
from ipu_mlir.runtime.translator.kernels.factors import FACTORS
from ipu_mlir.runtime.translator.kernels.nests import ordered, reads_across
from ipu_mlir.runtime.translator.kernels.product_forms import lanes_of, saved_product_us
from ipu_mlir.runtime.translator.kernels.scalar.code import LANES
from ipu_mlir.runtime.translator.kernels.scans import scan_us
from ipu_mlir.runtime.translator.statements.access import merged_loops
from ipu_mlir.runtime.translator.statements.cost import pass_us, saved_us
from ipu_mlir.runtime.translator.statements.statements import (
    Dot,
    Elementwise,
    FirstExtreme,
    LibraryCall,
    Reduce,
    Scan,
    Statement,
)

_LARGEST_IN_LOOP = 65536  # points of a statement, beyond which its arithmetic outweighs the call of NumPy
_LARGEST_PRODUCT = 1 << 21  # terms, beyond which two threads of BLAS are faster than one of a kernel
_LARGEST_ELSEWHERE = 4096  # terms of a product of which neither results nor terms lie side by side
_LEAST_SAVED_US = 1.0  # of a run, by statements one after the other: compiling them takes some 15 ms, on a machine once
_CALL_US = 1.2  # the call of a kernel with a few arrays
_LEAST_ACROSS, _ACROSS_US = 1 << 14, 0.0005  # points, and what NumPy loses on each: 256 x 256 took 67 us, a kernel 18
_STREAMED_BYTES = 8 << 20  # of a copy past the caches: 25 MB by two threads took 1.2 ms, through them 1.7
_MOST_TAPS = 16  # of a window; more are summed in other ways
_TAP_US, _POINT_US, _PER_ELEMENTS = 30.0, 8.5, 65536  # of NumPy, and in registers
_ORDER_US = 16.0  # that NumPy takes longer where it reduces other axes than the first or the last
_SHORT, _ROW_US = 32, 0.04  # elements of a row, and what NumPy takes to begin one


def is_worth_it(statements: Sequence[Statement], rounds: int) -> bool:
    """True if ``statements`` as one kernel save so much in a run that compiling it pays in some thousands of them."""
    saved_us = sum(map(_saved_us, statements)) + sum(_unstored_us(*pair) for pair in pairwise(statements))
    return rounds * (saved_us - _CALL_US) > _LEAST_SAVED_US


def _unstored_us(first: Statement, second: Statement) -> float:
    """What is saved beside that if ``second`` reduces what ``first`` computes, which is then no array."""
    if not isinstance(first, Elementwise) or not isinstance(second, Reduce | Dot):
        return 0.0
    return pass_us(first) if first.dests()[-1].buffer in {access.buffer for access in second.sources()} else 0.0


def _saved_us(statement: Statement) -> float:
    """What a kernel saves of the time of ``statement``."""
    match statement:
        case LibraryCall():
            return CODELETS[statement.codelet].saved_us(statement)
        case Dot():
            return saved_product_us(statement)
        case Scan():
            return scan_us(statement)
        case FirstExtreme():
            return extreme_us(statement)
        case Reduce():
            return max(saved_us(statement), _saved_window_us(statement), _saved_order_us(statement))
    return max(saved_us(statement), _saved_across_us(statement))


def _saved_across_us(statement: Statement) -> float:
    """What tiles save of a pass in which NumPy reads across rows that a cache does not hold."""
    points = prod(statement.extents)
    return points * _ACROSS_US if points >= _LEAST_ACROSS and is_read_across(statement) else 0.0


def is_read_across(statement: Statement) -> bool:
    return isinstance(statement, Elementwise) and reads_across(ordered(statement)) is not None


def is_large_copy(statements: Sequence[Statement]) -> bool:
    """True if all that is done is to copy so much that memory is what takes the time.

    It does not pay where something is computed: a chain on 16M elements took 29 instead of 20 ms past the caches.
    """
    first, *others = statements
    source = first.copied() if isinstance(first, Elementwise) and not others else None
    if source is None or source.strides != first.dests()[0].strides:
        return False
    return prod(first.extents) * source.buffer.dtype.itemsize >= _STREAMED_BYTES


def is_small(statement: Statement) -> bool:
    """True if ``statement`` takes less long than a few calls of NumPy."""
    largest = _LARGEST_IN_LOOP
    if isinstance(statement, Dot) and lanes_of(statement) is not None:
        largest = _LARGEST_PRODUCT
    elif isinstance(statement, Dot) and (1, 1) not in zip(statement.a.strides, statement.b.strides, strict=True):
        largest = _LARGEST_ELSEWHERE
    is_factor = isinstance(statement, LibraryCall) and statement.codelet in FACTORS
    return is_factor or points(statement) <= largest


def _saved_window_us(reduce: Reduce) -> float:
    """Time that a pooling saves in registers: NumPy has a call for each of its points, on rows that are apart."""
    loops = list(zip(reduce.extents, reduce.source.strides, reduce.out.strides, strict=True))
    points, results = prod(reduce.extents), prod(n for n, _, out in loops if out)
    is_window = any(n >= LANES and source == out == 1 for n, source, out in loops) and points <= _MOST_TAPS * results
    return (points - results) * _TAP_US / _PER_ELEMENTS - points * _POINT_US / _PER_ELEMENTS if is_window else 0.0


def _saved_order_us(reduce: Reduce) -> float:
    """Time that a reduction saves of short rows, or of other axes than the first or the last: NumPy goes run by run."""
    order = sorted(range(len(reduce.extents)), key=lambda loop: -abs(reduce.source.strides[loop]))
    parts = [[each[loop] for loop in order] for each in (reduce.extents, reduce.source.strides, reduce.out.strides)]
    runs = merged_loops(parts[0], parts[1:], [reduce.reduced[loop] for loop in order])
    if len(runs) > 2:
        return prod(reduce.extents) * _ORDER_US / _PER_ELEMENTS
    row = prod(reduce.extents[order[loop]] for loop in runs[-1]) if runs else 1
    is_short = bool(runs) and row <= _SHORT and reduce.reduced[order[runs[-1][-1]]] and not _is_for_ones(reduce)
    return prod(reduce.extents) // row * _ROW_US if is_short else 0.0


def _is_for_ones(reduce: Reduce) -> bool:
    """True of sums of floats, which NumPy makes as products with ones."""
    return reduce.call == "add" and reduce.out.buffer.dtype.kind == "f"
