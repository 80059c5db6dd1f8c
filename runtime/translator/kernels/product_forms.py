"""Which products registers do, and what that saves of the time of BLAS."""

from dataclasses import replace
from math import prod

from ipu_mlir.runtime.translator.kernels.thin_products import thin
from ipu_mlir.runtime.translator.statements.access import Access, temporary
from ipu_mlir.runtime.translator.statements.contraction import is_matrix, loop_kinds, merges
from ipu_mlir.runtime.translator.statements.cost import gemm_us
from ipu_mlir.runtime.translator.statements.expression import Read
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise

_FEWEST_LANES = 4  # columns from which a vector with a mask beats single numbers
_MOST_APART = 4  # elements from one result's factor to the next one's: so many vectors are read for one
_FEWEST_ROWS = 64  # for which a factor is turned
_LARGEST_FACTOR = 1 << 19  # elements: 2 MiB of f32. A larger one is slow to read again unless it is copied in order
_NEAR, _FEW_PAGES = 64, 64  # elements in one page, and rows of a large factor that are as near as if it were small
_COPY_US, _PER_ELEMENTS = 20.0, 65536  # of windows: runs of 9 to 64 elements
_CALL_US = 0.8  # of BLAS, by way of NumPy
_SMALL_MATRIX = 1 << 10  # products, of which BLAS does each matrix of a stack by itself
_TINY, _TINY_IN_LANES = 1 << 8, 1 << 6  # terms of a matrix that is written out, and where results lie side by side
_FEW_RESULTS = 4  # of a matrix of a stack: a factor is read once more for each of them
_SHORT_ROW = 1 << 12  # terms of a row that stays in the first cache
_MATRIX_US = 0.1  # of a stack: 8 x 8 times 8 x 8 took 0.19 by BLAS, in registers 0.04
_ONE_THREAD = 1 << 18  # terms, up to which OpenBLAS uses one
_WAKING_US = 20.0  # what it takes the second to begin


def lanes_of(dot: Dot) -> int | None:
    """The loop whose results lie side by side, if the factors do so too, or stand still; None if there is none.

    One factor may have a few elements between, as the pixels of windows that are moved by two.

    >>> import numpy as np
    >>> from ipu_mlir.runtime.translator.statements.access import Buffer, Role
    >>> from ipu_mlir.runtime.translator.statements.statements import Origin
    >>> x, y, z = (Buffer(name, 512, np.dtype("f4"), Role.TEMPORARY) for name in "xyz")
    >>> def of(b):
    ...     return Dot((8, 16, 32), Origin("", ""), Access(x, 0, (32, 0, 1)), Access(y, 0, b), Access(z, 0, (16, 1, 0)))
    >>> lanes_of(of((0, 1, 16))), lanes_of(of((0, 32, 1)))
    (1, None)
    """
    for loop, extent in enumerate(dot.extents):
        steps = dot.a.strides[loop], dot.b.strides[loop]
        is_even = steps == (1, 1) or (min(steps) == 0 and 0 < max(steps) <= _MOST_APART)
        if dot.out.strides[loop] == 1 and extent >= _FEWEST_LANES and is_even:
            return loop
    return None


def turned(dot: Dot, loop: int | None = None) -> tuple[Elementwise, Dot] | None:
    """A copy of a factor in which results lie side by side, and ``dot`` with it; None if that is no use.

    BLAS would copy the windows of the other factor; ``loop`` is the one that blocks are cut along.
    """
    for lanes, extent in enumerate(dot.extents):
        if dot.out.strides[lanes] != 1 or extent < _FEWEST_LANES or lanes == loop:
            continue
        moving = [factor for factor in (dot.a, dot.b) if factor.strides[lanes]]
        if len(moving) != 1 or (loop is not None and moving[0].strides[loop]):
            continue
        (factor,) = moving
        rows = prod(
            n
            for each, n in enumerate(dot.extents)
            if each != loop and dot.out.strides[each] and not factor.strides[each]
        )
        if rows < _FEWEST_ROWS or copied_elements(dot) <= _elements(factor, dot.extents):
            continue
        others = sorted(factor.loops() - {lanes}, key=lambda each: (-abs(factor.strides[each]), each))
        name, dtype = f"{factor.buffer.name}_turned", factor.buffer.dtype
        copied = temporary(name, dtype, dot.extents, [*others, lanes])
        extents = tuple(n if s else 1 for n, s in zip(dot.extents, factor.strides, strict=True))
        copy = Elementwise(extents, dot.origin, (copied,), (Read(dtype, factor),))
        return copy, replace(dot, a=copied) if factor is dot.a else replace(dot, b=copied)
    return None


def beats_blas(dot: Dot, loop: int | None = None) -> bool:
    """True if BLAS needs copies for ``dot``, and registers do without, cut along ``loop``: convolutions mostly."""
    form = thin(dot)
    if form is not None:
        return loop is None or (loop == form.many and form.is_along)
    if is_tiny_stack(dot, loop):
        return saved_product_us(dot, loop) > _CALL_US
    return (loop is None or loop != lanes_of(dot)) and saved_product_us(dot, loop) > _CALL_US


def is_tiny_stack(dot: Dot, loop: int | None = None) -> bool:
    """True for a stack of matrices so small that one is written out; ``loop``, if any, is one of the stack's."""
    kinds, lanes = loop_kinds(dot), lanes_of(dot)
    terms = prod(dot.extents[each] for each in (*kinds.rows, *kinds.columns, *kinds.summed))
    is_stack = bool(kinds.batch) and bool(kinds.rows or kinds.columns) and lanes not in kinds.batch
    return is_stack and terms <= (_TINY if lanes is None else _TINY_IN_LANES) and (loop is None or loop in kinds.batch)


def saved_product_us(dot: Dot, loop: int | None = None) -> float:
    """Time to call BLAS, and to copy what registers read where it lies; 0 if they do not."""
    types = {each.buffer.dtype for each in (dot.a, dot.b, dot.out)}
    if len(types) > 1 or dot.out.buffer.dtype.kind not in "fiu":
        return 0.0
    if thin(dot) is not None:
        return gemm_us(dot)
    lanes, saved = lanes_of(dot), copied_elements(dot)
    matrices = prod(dot.extents[each] for each in loop_kinds(dot).batch)
    is_small = lanes is not None and matrices > 1 and prod(dot.extents) <= matrices * _SMALL_MATRIX
    if is_small or is_tiny_stack(dot) or (lanes is None and _is_stack_of_few_rows(dot)):
        return _CALL_US + matrices * _MATRIX_US
    if lanes is None and _is_of_rows(dot):
        return _CALL_US + saved * _COPY_US / _PER_ELEMENTS if saved else 0.0
    if lanes is None:
        found = turned(dot, loop)
        if found is None:
            return 0.0
        copy, dot = found
        lanes, saved = lanes_of(dot), saved - prod(copy.extents)
    assert lanes is not None, "what is turned has lanes"
    wide = dot.b if dot.b.strides[lanes] else dot.a
    pages = prod(dot.extents[n] for n in loop_kinds(dot).summed if abs(wide.strides[n]) > _NEAR)
    is_read_again = _elements(wide, dot.extents) < prod(dot.extents) and pages > _FEW_PAGES
    if is_read_again and min(_elements(wide, dot.extents), wide.buffer.elements) > _LARGEST_FACTOR:
        return 0.0
    return _CALL_US + saved * _COPY_US / _PER_ELEMENTS


def _is_of_rows(dot: Dot) -> bool:
    """True for products of rows with rows, each of which gives one number."""
    kinds = loop_kinds(dot)
    return not kinds.rows and not kinds.columns


def _is_stack_of_few_rows(dot: Dot) -> bool:
    """True for a stack of products of a few rows by a few columns whose terms lie side by side in both factors."""
    kinds = loop_kinds(dot)
    results = prod(dot.extents[each] for each in (*kinds.rows, *kinds.columns))
    is_along = any(dot.a.strides[each] == dot.b.strides[each] == 1 for each in kinds.summed)
    is_short = prod(dot.extents[each] for each in kinds.summed) <= _SHORT_ROW
    is_stack = bool(kinds.batch) and bool(kinds.rows or kinds.columns) and results <= _FEW_RESULTS
    return is_stack and is_along and is_short and len(kinds.summed) == 1


def gained_by_threads_us(dot: Dot) -> float:
    """Time that BLAS saves with a second thread."""
    return max(0.0, gemm_us(dot) / 2 - _WAKING_US) if prod(dot.extents) > _ONE_THREAD else 0.0


def copied_elements(dot: Dot) -> int:
    """The elements that are copied so that BLAS has matrices, or rows side by side; where it has none, all terms."""
    kinds = loop_kinds(dot)
    if _is_of_rows(dot):
        orders = {each: tuple(sorted(kinds.summed, key=lambda n: -each.strides[n])) for each in (dot.a, dot.b)}
        rows = {each for each, n in orders.items() if n and each.strides[n[-1]] == 1 and merges(n, dot.extents, each)}
        return sum(_elements(factor, dot.extents) for factor in orders.keys() - rows) if kinds.batch else 0
    if not kinds.columns or not kinds.rows:
        return prod(dot.extents) if kinds.batch else 0
    total = 0
    for factor, own in ((dot.a, kinds.rows), (dot.b, kinds.columns)):
        loops = [sorted(each, key=lambda loop: -factor.strides[loop]) for each in (own, kinds.summed)]
        counts = [prod(dot.extents[loop] for loop in each) for each in loops]
        steps = [factor.strides[each[-1]] if each else 0 for each in loops]
        as_one = all(merges(tuple(each), dot.extents, factor) for each in loops)
        if not as_one or not is_matrix(counts[0], counts[1], steps[0], steps[1]):
            total += _elements(factor, dot.extents)
    return total


def _elements(access: Access, extents: tuple[int, ...]) -> int:
    """Those of ``access``, once for each window that they are in."""
    return prod(extents[loop] for loop in access.loops())
