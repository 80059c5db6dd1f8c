"""Numbers that grow by the same amount in every round of a loop.

A loop of JAX counts twice: once for its condition, once for its body. Both are the number of the round, times
something, plus something; then it is known where they lie, and that what they index is inside.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import Block, Control, ForLoop, all_statements, in_blocks, read_by
from ipu_mlir.runtime.translator.array_ir.expression import Apply, Const, Expression, Read, cast
from ipu_mlir.runtime.translator.array_ir.statements import Computed, Elementwise, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_rewritten_values
from ipu_mlir.runtime.translator.array_ir.types import is_integer


@dataclass(frozen=True)
class Counter:
    """A number in memory that begins at ``first`` and grows by ``step`` at ``position`` of the block of each round."""

    buffer: Buffer
    first: int
    step: int
    position: int


def with_induction(loop: ForLoop, before: Sequence[Statement]) -> ForLoop:
    """``loop`` with what grows with it computed from the number of the round; ``before`` are the statements before it.

    What grows is still kept up to date: if nobody reads it any more, ``without_dead`` drops that.
    """
    variable = loop.variable
    if variable is None or variable.buffer.bounds is None or not is_integer(variable.buffer.dtype):
        return loop
    lower, by = loop.lower, loop.step
    assert isinstance(lower, int) and isinstance(by, int), "the bounds of the variable are known"
    for buffer in _carried(loop):
        found = counter(buffer, loop.body, before)
        if found is None or found.step % by or not _is_replaceable(loop.body, buffer):
            continue
        factor = found.step // by
        start = found.first - factor * lower
        highest = factor * variable.buffer.bounds[1] + start + found.step
        if highest > np.iinfo(buffer.dtype).max or highest > np.iinfo(variable.buffer.dtype).max:
            continue
        loop = replace(loop, body=_computed(loop.body, buffer, variable.buffer, factor, start))
    return loop


def _carried(loop: ForLoop) -> list[Buffer]:
    """Integers that the body of ``loop`` writes."""
    written = dict.fromkeys(access.buffer for statement in loop.body for access in statement.dests())
    return [b for b in written if b.mutable and b.elements == 1 and is_integer(b.dtype) and b.bounds is None]


def _is_replaceable(body: Block, buffer: Buffer) -> bool:
    """True if all that read ``buffer`` compute with it."""
    return all(
        isinstance(statement, Computed)
        for statement in all_statements(body)
        if any(access.buffer is buffer for access in read_by(statement))
    )


def _computed(
    statements: Sequence[Statement], old: Buffer, variable: Buffer, factor: int, start: int
) -> tuple[Statement, ...]:
    """``statements`` with ``factor * variable + start`` for what ``old`` holds."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Read) or node.access.buffer is not old or node.dtype != old.dtype:
            return node
        access = node.access
        number: Expression = Read(variable.dtype, Access(variable, 0, access.strides))
        if factor != 1:
            number = Apply(variable.dtype, "multiply", (number, Const.of(factor, variable.dtype)))
        if start:
            sign = "add" if start > 0 else "subtract"
            number = Apply(variable.dtype, sign, (number, Const.of(abs(start), variable.dtype)))
        return cast(number, old.dtype)

    found = []
    for each in statements:
        statement = in_blocks(each, lambda block: _computed(block, old, variable, factor, start))
        is_reader = any(access.buffer is old for access in statement.sources())
        found.append(with_rewritten_values(statement, change) if is_reader else statement)
    return tuple(found)


def counter(buffer: Buffer, block: Block, before: Sequence[Statement]) -> Counter | None:
    """``buffer`` as a number that each round of ``block`` makes grow; ``before`` are the statements before the loop."""
    if buffer.elements != 1 or buffer.role is not Role.TEMPORARY:
        return None
    writers = [s for s in all_statements(block) if not isinstance(s, Control) and writes(s, buffer)]
    positions = [position for position, statement in enumerate(block) if statement in writers]
    if len(writers) != 1 or len(positions) != 1:
        return None
    (position,) = positions
    step = _growth(block, position, buffer)
    first = next((s for s in reversed(before) if writes(s, buffer)), None)
    start = first.filled() if isinstance(first, Elementwise) else None
    reads_later = any(a.buffer is buffer for s in all_statements(block[position + 1 :]) for a in read_by(s))
    if start is None or step is None or reads_later:
        return None
    return Counter(buffer, int(start.value), step, position)


def _growth(block: Block, position: int, buffer: Buffer) -> int | None:
    """By how much the statement at ``position`` makes the number in ``buffer`` grow, if it does that."""
    statement = block[position]
    if not isinstance(statement, Elementwise) or len(statement.values) != 1:
        return None
    (value,) = statement.values
    if isinstance(value, Read) and not value.access.buffer.mutable:  # the sum was made before, in memory of its own
        made = [s for s in block[:position] if writes(s, value.access.buffer)]
        if len(made) != 1 or not isinstance(made[0], Elementwise) or len(made[0].values) != 1:
            return None
        (value,) = made[0].values
    if not isinstance(value, Apply) or value.call != "add":
        return None
    for number, step in (value.args, value.args[::-1]):
        if isinstance(number, Read) and number.access.buffer is buffer and isinstance(step, Const) and step.value > 0:
            return int(step.value)
    return None


def writes(statement: Statement, buffer: Buffer) -> bool:
    """True if ``statement``, or what is inside of it, writes ``buffer``."""
    return any(dest.buffer is buffer for dest in statement.dests())
