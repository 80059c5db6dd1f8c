"""Two buffers that change roles instead of a copy per round.

A stencil cannot be computed where it is read. Its loop makes the new value in another buffer and copies it back for the
next round. Two rounds at a time need no copy: the first goes from one buffer to the other, the second back.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import Control, ForLoop, all_statements, in_blocks, used_by
from ipu_mlir.runtime.translator.array_ir.expression import Apply, Const, Expression, Read
from ipu_mlir.runtime.translator.array_ir.places import shared_places, stays, whole_copy
from ipu_mlir.runtime.translator.array_ir.statements import Check, Elementwise, Program, Scan, Statement
from ipu_mlir.runtime.translator.array_ir.transform import statements_with_other_buffers, with_rewritten_values

_MOST_STATEMENTS = 32  # of a loop: it is written twice, and a third time for an odd number of rounds

_Number = Callable[[Read], Expression]


def with_swapped_buffers(program: Program) -> Program:
    """Run loops of known length two rounds at a time where that saves copies."""
    everything = all_statements(program.statements)
    if not any(isinstance(statement, ForLoop) for statement in everything):
        return program
    users: dict[Buffer, set[int]] = defaultdict(set)
    for statement in everything:
        for buffer in used_by(statement):
            users[buffer].add(id(statement))
    for access in program.results:
        users[access.buffer].add(0)
    places = shared_places(program)

    def block(statements: Sequence[Statement]) -> list[Statement]:
        found: list[Statement] = []
        for statement in statements:
            swaps = _swaps(statement, users, places) if isinstance(statement, ForLoop) else []
            if isinstance(statement, ForLoop) and swaps:
                found += _Unrolled(statement, swaps, users).statements()
            else:
                found.append(in_blocks(statement, block))
        return found

    return program.with_statements(block(program.statements))


@dataclass(frozen=True)
class _Swap:
    """The copy at ``position`` of a loop puts ``new`` into ``carried`` for the next round."""

    position: int
    carried: Buffer
    new: Buffer


def _swaps(loop: ForLoop, users: Mapping[Buffer, set[int]], places: dict[Buffer, Buffer]) -> list[_Swap]:
    """The copies of ``loop`` that two buffers can do without; none if it cannot be written twice."""
    if not (isinstance(loop.lower, int) and isinstance(loop.upper, int) and isinstance(loop.step, int)):
        return []
    if loop.step <= 0 or len(range(loop.lower, loop.upper, loop.step)) < 2 or len(loop.body) > _MOST_STATEMENTS:
        return []
    if any(isinstance(statement, Control) or _counts_blindly(statement, loop) for statement in loop.body):
        return []
    found = []
    for position, statement in enumerate(loop.body):
        copy = whole_copy(statement)
        if copy is None or (isinstance(statement, Elementwise) and stays(statement, places)):
            continue
        carried, new = copy
        if not carried.role is new.role is Role.TEMPORARY or new.mutable:
            continue
        writers = [s for s in loop.body if any(dest.buffer is carried for dest in s.dests())]
        touched = {access.buffer for s in loop.body[position + 1 :] for access in (*s.sources(), *s.dests())}
        known = {buffer for swap in found for buffer in (swap.carried, swap.new)}
        if len(writers) == 1 and _is_local(new, loop, users) and not {carried, new} & (touched | known):
            found.append(_Swap(position, carried, new))
    return found


def _counts_blindly(statement: Statement, loop: ForLoop) -> bool:
    """True if ``statement`` reads the number of the round in a way that cannot be changed to another number."""
    if isinstance(statement, Elementwise | Scan | Check) or loop.variable is None:
        return False
    return any(source.buffer is loop.variable.buffer for source in statement.sources())


def _is_local(buffer: Buffer, loop: ForLoop, users: Mapping[Buffer, set[int]]) -> bool:
    """True if every round has a ``buffer`` of its own, and nothing else uses it."""
    if buffer.role is not Role.TEMPORARY or (buffer.home is not None and loop.ids[0] not in buffer.home):
        return False
    return users[buffer] <= {id(statement) for statement in loop.body}


class _Unrolled:
    """The rounds of a loop two at a time, and a last one alone where their number is odd."""

    def __init__(self, loop: ForLoop, swaps: list[_Swap], users: Mapping[Buffer, set[int]]) -> None:
        self._loop, self._swaps, self._users = loop, swaps, users
        copies = {swap.position for swap in swaps}
        self._kept = [statement for position, statement in enumerate(loop.body) if position not in copies]

    def statements(self) -> list[Statement]:
        loop = self._loop
        assert isinstance(loop.lower, int) and isinstance(loop.upper, int) and isinstance(loop.step, int)
        numbers, step = range(loop.lower, loop.upper, loop.step), loop.step
        last = loop.lower + step * (len(numbers) // 2 * 2)
        variable, rename = loop.variable, {}
        if variable is not None:
            count = replace(variable.buffer, bounds=(loop.lower, last - 2 * step))
            rename, variable = {variable.buffer: count}, replace(variable, buffer=count)
        there = statements_with_other_buffers(self._kept, rename)
        turned = {a: b for swap in self._swaps for a, b in ((swap.carried, swap.new), (swap.new, swap.carried))}
        back = self._round(
            self._kept,
            {**rename, **turned},
            lambda number: Apply(number.dtype, "add", (number, Const.of(step, number.dtype))),
        )
        pairs = replace(loop, upper=last, step=2 * step, variable=variable, body=(*there, *back))
        if len(numbers) % 2 == 0:
            return [pairs]
        return [pairs, *self._round(loop.body, rename, lambda number: Const.of(last, number.dtype))]

    def _round(self, body: Sequence[Statement], other: Mapping[Buffer, Buffer], number: _Number) -> list[Statement]:
        """``body`` once more: with ``other`` buffers, with local ones of its own, and with its ``number``."""
        buffers = dict(other)
        for statement in body:
            for access in statement.dests():
                buffer = access.buffer
                if buffer not in buffers and _is_local(buffer, self._loop, self._users):
                    buffers[buffer] = replace(buffer, home=None)
        return [self._numbered(each, other, number) for each in statements_with_other_buffers(body, buffers)]

    def _numbered(self, statement: Statement, other: Mapping[Buffer, Buffer], number: _Number) -> Statement:
        variable = self._loop.variable
        if variable is None or not isinstance(statement, Elementwise | Scan | Check):
            return statement
        count = other[variable.buffer]

        def change(node: Expression) -> Expression:
            return number(node) if isinstance(node, Read) and node.access.buffer is count else node

        return with_rewritten_values(statement, change)
