"""Padded buffers: only the border is filled where the rest is overwritten before anybody reads it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ipu_mlir.runtime.translator.array_ir.access import Access, Digit, digits_of_cover
from ipu_mlir.runtime.translator.array_ir.control import Control, in_blocks
from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, Program, Statement


@dataclass(frozen=True)
class Span:
    """``start`` .. ``stop`` - 1 of one dimension."""

    start: int
    stop: int


def with_borders(program: Program, options: TranslatorOptions) -> Program:
    """Fill only the border of a large buffer that is then overwritten but for it."""

    def block(statements: Sequence[Statement]) -> list[Statement]:
        found: list[Statement] = []
        for position, statement in enumerate(statements):
            if isinstance(statement, Control):
                found.append(in_blocks(statement, block))
            elif isinstance(statement, Elementwise) and _is_large_fill(statement, options):
                found += _on_the_border(statement, statements[position + 1 :])
            else:
                found.append(statement)
        return found

    return program.with_statements(block(program.statements))


def _is_large_fill(statement: Elementwise, options: TranslatorOptions) -> bool:
    return statement.filled() is not None and statement.outputs[0].buffer.elements >= options.border_min_elements


def _on_the_border(fill: Elementwise, following: Sequence[Statement]) -> list[Statement]:
    """``fill`` of a whole buffer without what one of the statements ``following`` it overwrites."""
    out = fill.outputs[0]
    digits = digits_of_cover(out, fill.extents)
    writer = _next_user(out, following)
    if digits is None or writer is None:
        return [fill]
    box = box_of(writer.outputs[0], writer.extents, digits)
    if box is None or 2 * prod(span.stop - span.start for span in box) < out.buffer.elements:
        return [fill]
    return [_filled_box(fill, out, digits, slab) for slab in slabs_around(box, tuple(d.extent for d in digits))]


def _next_user(out: Access, following: Sequence[Statement]) -> Elementwise | None:
    """The next statement that has to do with the buffer of ``out``, if it only writes to it."""
    for statement in following:
        if isinstance(statement, Control):
            return None
        if any(source.buffer is out.buffer for source in statement.sources()):
            return None
        if any(dest.buffer is out.buffer for dest in statement.dests()):
            return statement if isinstance(statement, Elementwise) and len(statement.outputs) == 1 else None
    return None


def box_of(access: Access, extents: tuple[int, ...], digits: list[Digit]) -> tuple[Span, ...] | None:
    """The part of each dimension (a digit of the address) that ``access`` writes; None if it writes no whole box."""
    starts: list[int] = []
    rest = access.offset
    for digit in digits:
        start, rest = divmod(rest, digit.stride)
        starts.append(start)
    counts = dict.fromkeys((digit.stride for digit in digits), 1)
    for extent, stride in zip(extents, access.strides, strict=True):
        if extent == 1:
            continue
        if counts.get(stride) != 1:
            return None
        counts[stride] = extent
    box = tuple(Span(start, start + counts[d.stride]) for start, d in zip(starts, digits, strict=True))
    return box if all(span.stop <= d.extent for span, d in zip(box, digits, strict=True)) else None


def slabs_around(box: tuple[Span, ...], shape: tuple[int, ...]) -> list[tuple[Span, ...]]:
    """Boxes that are disjoint and hold everything of ``shape`` but ``box``.

    >>> for slab in slabs_around((Span(1, 3), Span(0, 3)), (4, 4)):
    ...     print(*((span.start, span.stop) for span in slab))
    (0, 1) (0, 4)
    (3, 4) (0, 4)
    (1, 3) (3, 4)
    """
    slabs = []
    for number, span in enumerate(box):
        for part in (Span(0, span.start), Span(span.stop, shape[number])):
            if part.start < part.stop:
                slabs.append((*box[:number], part, *(Span(0, extent) for extent in shape[number + 1 :])))
    return slabs


def _filled_box(fill: Elementwise, out: Access, digits: list[Digit], box: tuple[Span, ...]) -> Elementwise:
    """``fill`` of ``box`` alone, one loop per dimension."""
    offset = sum(span.start * digit.stride for span, digit in zip(box, digits, strict=True))
    dest = replace(out, offset=offset, strides=tuple(digit.stride for digit in digits))
    return replace(fill, extents=tuple(span.stop - span.start for span in box), outputs=(dest,))
