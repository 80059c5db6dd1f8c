"""Boxes of a buffer that begin where only a run knows: indexed and sliced as hand-written NumPy does it."""

from collections.abc import Sequence
from math import prod

from ipu_mlir.runtime.translator.codegen.schedule import Axes, View
from ipu_mlir.runtime.translator.statements.access import Buffer, row_major
from ipu_mlir.runtime.translator.statements.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    Slice,
    apply,
    loops_of,
    reads,
)
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.iota import INDEX, loop_number

Term = tuple[int, Expression]
"""A factor, and a number that is the same at every point."""


def sliced(gather: Gather, axes: Axes, ranges: Ranges) -> Slice | None:
    """``gather`` as a box of its buffer, or as one element; None if it is neither, or may lie outside."""
    access, buffer = gather.access, gather.access.buffer
    strides = axes.strides(access)
    moving = [axis for axis, stride in enumerate(strides) if stride]
    is_element = not axes.shape
    if axes.block is not None or not (moving or is_element) or (reads([gather.index]) and loops_of(gather.index)):
        return None
    shape = shape_of(buffer)
    rows = row_major(shape)
    terms, constant = _terms(gather.index)
    terms = [(factor * gather.stride, node) for factor, node in terms]
    constant = access.offset + constant * gather.stride
    if constant < 0 or any(strides[axis] < 0 for axis in moving):
        return None
    parts: list[list[Term]] = [[] for _ in shape]
    for factor, node in terms:
        dimension = _dimension(abs(factor), rows, shape)
        if dimension is None:
            return None
        parts[dimension].append((factor // rows[dimension], node))
    sizes: list[int | None] = [None] * len(shape)
    steps, order = [1] * len(shape), []
    for axis in moving:
        dimension = _dimension(strides[axis], rows, shape)
        if dimension is None or sizes[dimension] is not None:
            return None
        sizes[dimension], steps[dimension] = axes.shape[axis], strides[axis] // rows[dimension]
        order.append(dimension)
    if order != sorted(order):
        return None
    starts = []
    for part, size, step, row, extent in zip(parts, sizes, steps, rows, shape, strict=True):
        digit, constant = divmod(constant, row)
        start = _sum(part, digit)
        interval = ranges.of(start)
        if interval is None or interval[0] < 0 or interval[1] + step * ((size or 1) - 1) >= extent:
            return None
        starts.append(loop_number(start) or start)
    return Slice(gather.dtype, access, tuple(starts), tuple(sizes), tuple(steps))


def shape_of(buffer: Buffer) -> tuple[int, ...]:
    """The shape of ``buffer``, in which its elements lie row by row."""
    return buffer.shape if prod(buffer.shape) == buffer.elements else (buffer.elements,)


def whole(buffer: Buffer) -> View:
    """All of ``buffer``."""
    shape = shape_of(buffer)
    return View(buffer, buffer.dtype, 0, shape, row_major(shape))


def index_text(starts: Sequence[Expression], sizes: Sequence[int | None], steps: Sequence[int], first: int) -> str:
    """The text in brackets; starts that are no constants are the operands from number ``first`` on."""
    found = []
    for start, size, step in zip(starts, sizes, steps, strict=True):
        if isinstance(start, Const):
            low = str(start.value)
            high = str(int(start.value) + step * ((size or 1) - 1) + 1)
        else:
            low = f"{{{first}}}"
            high = f"{low} + {step * ((size or 1) - 1) + 1}"
            first += 1
        found.append(low if size is None else f"{low}:{high}" + (f":{step}" if step > 1 else ""))
    return ", ".join(found)


def _terms(index: Expression) -> tuple[list[Term], int]:
    """``index`` as a sum of terms and a constant."""
    match index:
        case Const():
            return [], int(index.value)
        case Apply(call="add" | "subtract" as call):
            (left, a), (right, b) = (_terms(arg) for arg in index.args)
            sign = 1 if call == "add" else -1
            return [*left, *((sign * factor, node) for factor, node in right)], a + sign * b
        case Apply(call="multiply"):
            for scaled, by in (index.args, index.args[::-1]):
                if isinstance(by, Const):
                    terms, constant = _terms(scaled)
                    return [(factor * int(by.value), node) for factor, node in terms], constant * int(by.value)
    return [(1, index)], 0


def _dimension(stride: int, rows: Sequence[int], shape: Sequence[int]) -> int | None:
    """The dimension in which ``stride`` is a whole number of steps, fewer than there are."""
    for dimension, (row, extent) in enumerate(zip(rows, shape, strict=True)):
        if stride > 0 and stride % row == 0:
            return dimension if stride // row < extent else None
    return None


def _sum(terms: Sequence[Term], constant: int) -> Expression:
    if len(terms) == 1 and terms[0][0] == -1:
        return apply("subtract", Const.of(constant, INDEX), terms[0][1])
    total: Expression | None = None
    for factor, node in terms:
        term = node if factor == 1 else apply("multiply", node, Const.of(factor, INDEX))
        total = term if total is None else apply("add", total, term)
    if total is None or constant:
        number = Const.of(constant, INDEX)
        total = number if total is None else apply("add", total, number)
    return total
