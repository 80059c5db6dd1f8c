"""Loops that count are loops over numbers, whatever they are written as.

``while i < n: ...; i += 1`` is how JAX and TensorFlow write a loop. As a loop over numbers it needs no comparison and
no sum in memory, and its number is known to lie inside what it indexes.
"""

import collections
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer
from ipu_mlir.runtime.translator.array_ir.control import (
    ForLoop,
    WhileLoop,
    all_statements,
    in_blocks,
    known_rounds,
    read_by,
)
from ipu_mlir.runtime.translator.array_ir.expression import Apply, Const, Expression, Read, rewrite
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, Program, Statement
from ipu_mlir.runtime.translator.array_ir.transform import statements_with_other_buffers
from ipu_mlir.runtime.translator.optimize.forward_copies import without_copies
from ipu_mlir.runtime.translator.optimize.induction import counter, with_induction
from ipu_mlir.runtime.translator.optimize.known_numbers import with_known_numbers


def with_counted_loops(program: Program) -> Program:
    """Write loops that count as ``ForLoop``, and decide what the number of an iteration decides."""
    if not any(isinstance(statement, ForLoop | WhileLoop) for statement in all_statements(program.statements)):
        return program
    counted = with_known_numbers(program.with_statements(_block(program.statements, _readers(program))))
    return with_known_numbers(without_copies(counted))  # what was a choice may be a copy of the number now


def _readers(program: Program) -> collections.Counter[Buffer]:
    """The number of statements that read each buffer; a reader after the program counts as one."""
    found = collections.Counter(program.read_afterwards())
    for statement in all_statements(program.statements):
        found.update({access.buffer for access in read_by(statement)})
    return found


def _block(statements: Sequence[Statement], readers: collections.Counter[Buffer]) -> list[Statement]:
    found: list[Statement] = []
    for old in statements:
        made: list[Statement] = [old]
        if isinstance(old, WhileLoop):
            made = _counted(old, found, readers) or [old]
        for each in made:
            statement = with_induction(each, found) if isinstance(each, ForLoop) else each
            found.append(in_blocks(statement, lambda block: _block(block, readers)))
    return found


def _counted(
    loop: WhileLoop, before: Sequence[Statement], readers: collections.Counter[Buffer]
) -> list[Statement] | None:
    """``loop`` as a loop over numbers and what follows it; None if it does not just count."""
    limits = _limits(loop, readers)
    counters = [] if limits is None else [counter(buffer, loop.after, before) for buffer in limits]
    known = [counter for counter in counters if counter is not None]
    if limits is None or not known or len(known) != len(counters):
        return None
    lead, upper = known[0], min(limits.values())
    if any((c.first, c.step, c.buffer.dtype) != (lead.first, lead.step, lead.buffer.dtype) for c in known):
        return None
    last = lead.first + len(range(lead.first, upper, lead.step)) * lead.step
    if last > np.iinfo(lead.buffer.dtype).max:
        return None
    gone = {counter.position for counter in known}
    number = replace(lead.buffer, name="count", counts=True, bounds=known_rounds(lead.first, upper, lead.step))
    counted = {counter.buffer for counter in known}
    left = [statement for position, statement in enumerate(loop.after) if position not in gone]
    body = statements_with_other_buffers(left, dict.fromkeys(counted, number))
    rounds = ForLoop((), loop.origin, loop.ids[1:2], lead.first, upper, lead.step, Access(number, 0, ()), tuple(body))
    ends = [
        Elementwise((), loop.origin, (Access(buffer, 0, ()),), (Const.of(last, buffer.dtype),)) for buffer in counted
    ]
    return [rounds, *ends, *loop.leaving]


def _limits(loop: WhileLoop, readers: collections.Counter[Buffer]) -> dict[Buffer, int] | None:
    """The limits that numbers stay below while ``loop`` runs, if only they decide, and nothing else is done."""
    held: dict[Buffer, Expression] = {}

    def inlined(node: Expression) -> Expression:
        return held.get(node.access.buffer, node) if isinstance(node, Read) else node

    for statement in loop.before:
        if not isinstance(statement, Elementwise) or statement.extents or len(statement.outputs) != 1:
            return None
        buffer = statement.outputs[0].buffer
        if buffer.mutable:
            return None
        (held[buffer],) = rewrite(statement.values, inlined)
    own = collections.Counter(
        buffer for statement in loop.before for buffer in {access.buffer for access in statement.sources()}
    )
    own[loop.condition.buffer] += 1
    if any(readers[buffer] != own[buffer] for buffer in held):
        return None  # it is used for something else, too
    limits: dict[Buffer, int] = {}
    waiting = [held.get(loop.condition.buffer)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Apply) and node.call in ("bitwise_and", "logical_and"):
            waiting += node.args
            continue
        if not isinstance(node, Apply) or node.call not in ("less", "greater"):
            return None
        number, limit = node.args if node.call == "less" else node.args[::-1]
        if not isinstance(number, Read) or not isinstance(limit, Const) or number.dtype.kind != "i":
            return None
        buffer = number.access.buffer
        limits[buffer] = min(int(limit.value), limits.get(buffer, int(limit.value)))
    return limits
