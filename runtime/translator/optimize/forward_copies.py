"""Copies and fills that nothing can tell from their source are not made.

A read of a copy becomes a read of the copy's source with other strides; a read of a filled buffer becomes the scalar.
Exchanges, transposes and broadcasts vanish this way, except where their source is written later, where their
own memory is written into piece by piece, or where they are a result.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, digits_of_cover, is_contiguous
from ipu_mlir.runtime.translator.statements.control import Branch, Control, all_statements, in_blocks
from ipu_mlir.runtime.translator.statements.expression import (
    Const,
    Expression,
    Gather,
    Read,
    gathers,
    rewrite,
)
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.statements import (
    Check,
    Elementwise,
    Fold,
    FunctionCall,
    LibraryCall,
    Program,
    Scan,
    SliceUpdate,
    Statement,
    Transfer,
)
from ipu_mlir.runtime.translator.statements.timeline import Timeline
from ipu_mlir.runtime.translator.statements.transform import (
    same,
    with_accesses,
    with_loop_split,
    with_rewritten_values,
)
from ipu_mlir.runtime.translator.statements.types import unsigned

_ACTS = (Check, FunctionCall, Transfer)
"""Statements that may do more than write their results."""


@dataclass(frozen=True)
class CopyDigit:
    """A digit of the copy's address: worth ``stride`` in the copy and ``source_stride`` in its source."""

    extent: int
    stride: int
    source_stride: int


@dataclass(frozen=True)
class Copied:
    """The source of a copy: the copy's address as digits, most significant first, and the source's address at 0."""

    digits: tuple[CopyDigit, ...]
    source: Buffer
    offset: int


def with_known_values(program: Program) -> Program:
    """Decide what intervals tell of values that were in memory when they were read, as clamps of indices."""

    def block(statements: Sequence[Statement]) -> list[Statement]:
        return [with_rewritten_values(in_blocks(each, block), Ranges(each.extents).decided) for each in statements]

    return program.with_statements(block(program.statements))


def without_copies(program: Program) -> Program:
    """Read the sources of copies and the numbers of fills; drop what nobody reads."""
    timeline = Timeline.of(program)
    copies: dict[Buffer, Copied] = {}
    fills: dict[Buffer, Const] = dict(_splat_constants(program))

    def block(old_statements: Sequence[Statement]) -> list[Statement]:
        statements: list[Statement] = []
        for old in old_statements:
            if isinstance(old, Control):
                statements.append(old.changed(block, scalar))
                continue
            position = timeline.position_of[id(old)]
            statement = with_splats(with_sources(old, copies), fills)
            statements.append(statement)
            if not isinstance(statement, Elementwise) or len(statement.outputs) != 1:
                continue
            buffer = statement.outputs[0].buffer
            if buffer.mutable or buffer.role is not Role.TEMPORARY:
                continue
            fill, source = statement.filled(), statement.copied()
            if fill is not None:
                fills[buffer] = fill
            elif source is not None and source.buffer.dtype == buffer.dtype:
                if timeline.changes_between(source.buffer, position, timeline.needed_until(buffer)):
                    continue  # the source changes while the copy is in use
                copies[buffer] = copied_by(statement, source)
        return statements

    def scalar(access: Access) -> Access:
        return _through(access, (), copies)

    return without_dead(program.with_statements(block(program.statements)))


def without_dead(program: Program) -> Program:
    """``program`` without statements that write only buffers that nobody reads."""
    return program.with_statements(_needed(program.statements, set(program.read_afterwards())))


def _needed(statements: Sequence[Statement], live: set[Buffer]) -> list[Statement]:
    """The statements that act on what is ``live`` after them; ``live`` then also has what they read."""
    kept: list[Statement] = []
    for statement in reversed(statements):
        if isinstance(statement, Control):
            found = _needed_control(statement, live)
            if not any(found.blocks()):
                continue
            kept.append(found)
        elif isinstance(statement, _ACTS) or any(dest.buffer in live for dest in statement.dests()):
            live.update(source.buffer for source in statement.sources())
            kept.append(statement)
    return kept[::-1]


def _needed_control(statement: Control, live: set[Buffer]) -> Control:
    """``statement`` without what is not needed; ``live`` then has what it reads. A loop is seen once per iteration."""
    while True:
        before = len(live)
        blocks = [_needed(block, live) for block in reversed(statement.blocks())]
        if any(blocks):
            live.update(access.buffer for access in statement.read_directly())
        if len(live) == before or isinstance(statement, Branch):
            return statement.with_blocks(blocks[::-1])


def with_splats(statement: Statement, fills: dict[Buffer, Const]) -> Statement:
    """``statement`` with reads of filled buffers replaced by their scalar, in scalar bodies."""
    if not isinstance(statement, Elementwise | Fold | Scan | Check) or not fills:
        return statement

    def change(node: Expression) -> Expression:
        if not isinstance(node, Read | Gather) or node.access.buffer not in fills:
            return node
        fill = fills[node.access.buffer]
        return Const(node.dtype, np.array([fill.value]).view(node.dtype)[0])  # a read may see other bits

    return with_rewritten_values(statement, change)


def _splat_constants(program: Program) -> Iterator[tuple[Buffer, Const]]:
    """The constants that hold one number alone, and that number."""
    for statement in all_statements(program.statements):
        for source in statement.sources():
            buffer = source.buffer
            if buffer.value is not None and buffer.elements > 0:
                bits = buffer.value.view(unsigned(buffer.dtype))  # 0 and -0 are equal but not the same
                if bits.strides == (0,) or (bits[-1] == bits[0] and (bits == bits[0]).all()):
                    yield buffer, Const(buffer.dtype, buffer.value[0])


def copied_by(statement: Elementwise, source: Access) -> Copied:
    digits = digits_of_cover(statement.outputs[0], statement.extents)
    assert digits is not None, "a buffer that is written once is written completely"
    merged: list[CopyDigit] = []
    for digit in digits:
        here = CopyDigit(digit.extent, digit.stride, source.strides[digit.loop])
        if merged and merged[-1].source_stride == here.source_stride * here.extent:
            here = replace(here, extent=here.extent * merged[-1].extent)
            merged.pop()
        merged.append(here)
    return Copied(tuple(merged), source.buffer, source.offset)


def with_sources(statement: Statement, copies: dict[Buffer, Copied]) -> Statement:
    """``statement`` reading the sources of copies wherever that can be said with strides, splitting loops if needed."""
    if isinstance(statement, LibraryCall):
        return _call_on_sources(statement, copies)
    if isinstance(statement, SliceUpdate):
        return _update_on_sources(statement, copies)
    for _ in range(16):  # each iteration but the last splits one loop
        renamed: dict[Access, Access] = {}
        wanted: tuple[int, int] | None = None
        gathered = {gather.access for gather in gathers(getattr(statement, "values", ()))}
        for access in statement.sources():
            copied = copies.get(access.buffer)
            if copied is None or access in gathered:  # the index of a gather counts elements of the copy
                continue
            through = reading_through(access, statement.extents, copied)
            if through is not None:
                renamed[access] = through
            elif wanted is None:
                wanted = loop_to_split(access, statement.extents, copied)
        if wanted is None:
            renamed.update(_gathered_through(statement, copies))
            return (
                with_accesses(statement, lambda a, renamed=renamed: renamed.get(a, a), same) if renamed else statement
            )
        statement = with_loop_split(statement, *wanted)
    return statement


def _call_on_sources(call: LibraryCall, copies: dict[Buffer, Copied]) -> LibraryCall:
    """``call`` with inputs that are copies replaced by their sources; an access has a loop per dimension."""
    inputs = []
    for access, shape in zip(call.inputs, call.shapes[: len(call.inputs)], strict=True):
        through = _through(access, shape, copies)
        is_possible = not isinstance(call, FunctionCall) or is_contiguous(shape, through.strides)
        inputs.append(through if is_possible else access)
    return replace(call, inputs=tuple(inputs))


def _update_on_sources(update: SliceUpdate, copies: dict[Buffer, Copied]) -> SliceUpdate:
    """``update`` with sources read in place of copies; its loops stay, for its indexes count points of them."""

    def change(node: Expression) -> Expression:
        return replace(node, access=_through(node.access, update.box(), copies)) if isinstance(node, Read) else node

    *indexes, value = rewrite(update.expressions(), change)
    return replace(update, indexes=tuple(indexes), value=value, old=_through(update.old, update.extents, copies))


def _gathered_through(statement: Statement, copies: dict[Buffer, Copied]) -> dict[Access, Access]:
    """New accesses for gathers from copies that lie exactly as their source does."""
    renamed: dict[Access, Access] = {}
    for gather in gathers(getattr(statement, "values", ())):
        copied = copies.get(gather.access.buffer)
        if copied is not None and all(digit.source_stride == digit.stride for digit in copied.digits):
            access = gather.access
            renamed[access] = Access(copied.source, access.offset + copied.offset, access.strides)
    return renamed


def _digits_of(number: int, copied: Copied) -> list[int]:
    values = []
    for digit in copied.digits:
        value, number = divmod(number, digit.stride)
        values.append(value)
    return values


def _through(access: Access, extents: tuple[int, ...], copies: dict[Buffer, Copied]) -> Access:
    """``access``, or the source of what it reads, if that is a copy and can be read in its place."""
    copied = copies.get(access.buffer)
    return (copied and reading_through(access, extents, copied)) or access


def reading_through(access: Access, extents: tuple[int, ...], copied: Copied) -> Access | None:
    """The same elements read from the copy's source; None if some index would carry from one digit into the next."""
    if any(stride < 0 for stride in access.strides) or access.offset < 0:
        return None
    highest = offsets = _digits_of(access.offset, copied)
    strides = []
    for extent, stride in zip(extents, access.strides, strict=True):
        steps = _digits_of(stride, copied) if extent > 1 else [0] * len(copied.digits)
        highest = [h + step * (extent - 1) for h, step in zip(highest, steps, strict=True)]
        strides.append(sum(step * d.source_stride for step, d in zip(steps, copied.digits, strict=True)))
    if any(h >= d.extent for h, d in zip(highest, copied.digits, strict=True)):
        return None
    offset = copied.offset + sum(o * d.source_stride for o, d in zip(offsets, copied.digits, strict=True))
    return Access(copied.source, offset, tuple(strides))


def loop_to_split(access: Access, extents: tuple[int, ...], copied: Copied) -> tuple[int, int] | None:
    """A loop that runs over several digits, and the inner extent that would keep it within the lowest of them."""
    for loop, (extent, stride) in enumerate(zip(extents, access.strides, strict=True)):
        if stride <= 0 or extent == 1:
            continue
        for digit in reversed(copied.digits):
            step, rest = divmod(stride, digit.stride)
            if rest or step >= digit.extent or digit.extent % step:
                continue
            inner = digit.extent // step
            if 1 < inner < extent and extent % inner == 0:
                return loop, inner
            break
    return None
