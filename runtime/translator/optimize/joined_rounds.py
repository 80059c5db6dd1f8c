"""Rounds of a loop that do not wait for each other are done together.

``for i: x[index[i]] += v[i]`` is one scatter of all updates, in the order of the rounds, and ``for i: y[i] = f(x[i])``
is one element-wise statement. What a round takes from the one before stays in the loop.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role, row_major
from ipu_mlir.runtime.translator.array_ir.control import (
    ForLoop,
    all_statements,
    in_blocks,
    known_rounds,
    used_by,
)
from ipu_mlir.runtime.translator.array_ir.expression import (
    Apply,
    Expression,
    Gather,
    Read,
    cast,
    reads,
    rewrite,
)
from ipu_mlir.runtime.translator.array_ir.intervals import Ranges
from ipu_mlir.runtime.translator.array_ir.iota import INDEX, numbers
from ipu_mlir.runtime.translator.array_ir.linear import linear_part
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, LibraryCall, Program, SliceUpdate, Statement
from ipu_mlir.runtime.translator.array_ir.transform import in_outer_block
from ipu_mlir.runtime.translator.optimize.forward_copies import without_dead
from ipu_mlir.runtime.translator.optimize.round_updates import in_place, is_place, without_branch
from ipu_mlir.runtime.translator.optimize.round_values import MOST_ELEMENTS, RoundValues
from ipu_mlir.runtime.translator.optimize.single_scatters import COMBINE

_FEWEST_ROUNDS = 4
_MOST_PER_ROUND = 4096  # elements; a round with more takes longer than the calls that it makes


def with_joined_rounds(program: Program) -> Program:
    """Do together what the rounds of a loop do independently of each other."""
    if not any(isinstance(statement, ForLoop) for statement in all_statements(program.statements)):
        return program
    uses = _uses(program.statements)
    uses.update(access.buffer for access in program.results)
    opened: set[int] = set()

    def block(statements: Sequence[Statement]) -> list[Statement]:
        found: list[Statement] = []
        for old in statements:
            statement = in_blocks(old, block)
            joined = None
            if isinstance(statement, ForLoop) and isinstance(old, ForLoop):
                joined = _Updates.of(statement, uses - _uses([old]), opened)
            found += [statement] if joined is None else joined
        return found

    changed = block(program.statements)
    return in_outer_block(without_dead(program.with_statements(changed)), opened)


def _uses(statements: Sequence[Statement]) -> Counter[Buffer]:
    """The number of statements that use each buffer."""
    found: Counter[Buffer] = Counter()
    for statement in all_statements(statements):
        found.update(used_by(statement))
    return found


class _Updates(RoundValues):
    """The updates of the rounds of one loop, as updates of all rounds."""

    @staticmethod
    def of(loop: ForLoop, outside: Counter[Buffer], opened: set[int]) -> list[Statement] | None:
        """Statements that do the same as ``loop``; None if no two rounds can be done together."""
        known = known_rounds(loop.lower, loop.upper, loop.step)
        if known is None or not isinstance(loop.step, int):
            return None
        first, last = known
        count = (last - first) // loop.step + 1
        if count < _FEWEST_ROUNDS:
            return None
        branches: set[int] = set()
        body = [each for statement in loop.body for each in without_branch(statement, branches)]
        body = in_place(body, outside)
        changed = Counter(dest.buffer for statement in body for dest in statement.dests())
        rounds = _Updates(loop, body, count, first, loop.step, changed)
        rounds._find_producers(outside)
        moved = [statement for statement in body if rounds._join(statement)]
        if not moved:
            return None
        opened |= branches
        rest = tuple(statement for statement in body if not any(statement is other for other in moved))
        return [*rounds.made, replace(loop, body=rest)]

    def _join(self, statement: Statement) -> bool:
        """True if ``statement`` is an update that all rounds can do together; it is in ``made`` then."""
        before = len(self.made), dict(self.whole)
        made = None
        if isinstance(statement, SliceUpdate):
            made = self._slices(statement)
        elif isinstance(statement, LibraryCall) and statement.codelet in COMBINE:
            made = self._scatters(statement)
        if made is None:
            del self.made[before[0] :]
            self.whole = before[1]
            return False
        self.made.append(made)
        return True

    def _is_alone(self, out: Buffer, statement: Statement, helpers: Sequence[Statement] = ()) -> bool:
        """True if nothing else in a round uses ``out``."""
        others = [s for s in self.body if s is not statement and not any(s is helper for helper in helpers)]
        return self.changed[out] == 1 and all(
            access.buffer is not out for other in others for access in (*other.sources(), *other.dests())
        )

    def _slices(self, update: SliceUpdate) -> Statement | None:
        out, extents = update.out, update.extents
        if update.old != out or any(size != 1 for size in update.sizes) or out.buffer in self.producers:
            return None
        others = tuple(n for loop, n in enumerate(extents) if loop not in update.loops)
        if prod(others) > _MOST_PER_ROUND:
            return None
        value, helpers = self._inlined(update.value, out.buffer)
        if not self._is_alone(out.buffer, update, helpers):
            return None
        for helper in helpers:
            if not self._is_alone(helper.outputs[0].buffer, helper, [update]):
                return None
        shape = tuple(1 if loop in update.loops else n for loop, n in enumerate(extents))
        indexes = self._of_all_rounds(update.indexes, (1,) * len(extents))
        if indexes is None:
            return None
        place = self._moving_place(update, indexes)
        held = Buffer("found", out.buffer.elements, out.buffer.dtype, Role.TEMPORARY)  # stands for what lies there
        found = Read(held.dtype, Access(held, 0, (0,) * len(extents)))

        def at_place(node: Expression) -> Expression:
            return found if isinstance(node, Gather) and is_place(node, update) else node

        (value,) = rewrite([value], at_place)
        combine = None
        if place is None and isinstance(value, Apply) and value.call in COMBINE.values() and found in value.args:
            combine, value = value.call, value.args[1 if value.args[0] is found else 0]
        values = self._of_all_rounds((value,), shape)
        if values is None:
            return None
        if place is None:
            is_found = any(access.buffer is held for access in reads(values))
            return None if is_found else self._scatter(update, indexes, values[0], combine, others)
        there = Read(held.dtype, place)  # every round has a place of its own
        values = rewrite(values, lambda node: there if isinstance(node, Read) and node.access.buffer is held else node)
        return Elementwise((self.count, *shape), update.origin, (place,), tuple(values))

    def _moving_place(self, update: SliceUpdate, indexes: Sequence[Expression]) -> Access | None:
        """Where each round writes, if that moves on by the same distance every round, and stays inside."""
        out = update.out
        rank = len(update.extents) + 1
        ranges = Ranges((self.count,) + (1,) * (rank - 1))
        offset, step = out.offset, 0
        for loop, index in zip(update.loops, indexes, strict=True):
            part, interval = linear_part(index, rank), ranges.of(index)
            if part.rest is not None or interval is None or interval[0] < 0 or interval[1] >= update.extents[loop]:
                return None
            offset += part.constant * out.strides[loop]
            step += part.coefficients[0] * out.strides[loop]
        strides = tuple(0 if loop in update.loops else stride for loop, stride in enumerate(out.strides))
        return Access(out.buffer, offset, (step, *strides)) if step > 0 else None

    def _scatter(
        self,
        update: SliceUpdate,
        indexes: Sequence[Expression],
        value: Expression,
        combine: str | None,
        others: tuple[int, ...],
    ) -> LibraryCall | None:
        """The update of all rounds as one scatter: the rounds are the first axis, whole dimensions follow."""
        rank, extents = len(update.extents), update.extents
        if self.count * prod(others) > MOST_ELEMENTS or rank < 1:
            return None
        inputs: list[Access] = []
        shapes: list[tuple[int, ...]] = []
        ones = (1,) * len(others)
        free = 0
        for loop, extent in enumerate(extents):
            if loop in update.loops:
                index = cast(indexes[update.loops.index(loop)], INDEX)
                held = self._held("places", index, (self.count,) + (1,) * rank, update)
                inputs.append(Access(held, 0, (1, *(0 for _ in others))))
                shapes.append((self.count, *ones))
            else:
                free += 1
                inputs.append(Access(numbers(extent), 0, (0,) * free + (1,) + (0,) * (len(others) - free)))
                shapes.append((*ones[:free], extent, *ones[free:]))
        inputs.append(Access(_TRUE, 0, (0,) * (1 + len(others))))
        shapes.append((1, *ones))
        boxed = tuple(1 if loop in update.loops else n for loop, n in enumerate(extents))
        held = self._held("updates", value, (self.count, *boxed), update)
        shape = (self.count, *others)
        inputs.append(Access(held, 0, row_major(shape)))
        shapes.append(shape)
        for extent in extents:
            inputs.append(Access(numbers(extent), 0, (1,)))
            shapes.append((extent,))
        name = next(codelet for codelet, call in COMBINE.items() if call == combine)
        return LibraryCall((), update.origin, name, tuple(inputs), (update.out,), (*shapes, extents), (True,))

    def _scatters(self, call: LibraryCall) -> LibraryCall | None:
        """A scatter per round as one scatter."""
        (out,), (updated,) = call.outputs, call.updated
        count = len(call.inputs)
        rank = len(call.shapes[-1])
        arrays = call.shapes[: rank + 2]
        whole = np.broadcast_shapes(*arrays)
        rounds = out.buffer.narrow is not None and COMBINE[call.codelet] in ("add", "multiply")  # after every round
        if rounds or not updated or not self._is_alone(out.buffer, call) or prod(whole) > _MOST_PER_ROUND:
            return None
        if self.count * prod(whole) > MOST_ELEMENTS:
            return None
        inputs: list[Access] = []
        shapes: list[tuple[int, ...]] = []
        for number, (access, shape) in enumerate(zip(call.inputs, call.shapes[:count], strict=True)):
            if number >= rank + 2:
                inputs.append(access)
                shapes.append(shape)
                continue
            moved = self._moved_access(access)
            if moved is None:
                return None
            missing = len(whole) - len(shape)
            step, *strides = moved.strides
            inputs.append(Access(moved.buffer, moved.offset, (step, *(0,) * missing, *strides)))
            shapes.append((self.count if step else 1, *(1,) * missing, *shape))
        if not any(access.strides[0] for access in inputs[: rank + 2]):
            return None
        if shapes[rank + 1][0] == 1:  # every round brings the same
            access = inputs[rank + 1]
            value = Read(access.buffer.dtype, access)
            shape = (self.count, *shapes[rank + 1][1:])
            held = self._held("updates", value, shape, call)
            inputs[rank + 1], shapes[rank + 1] = Access(held, 0, row_major(shape)), shape
        return replace(call, inputs=tuple(inputs), shapes=(*shapes, *call.shapes[count:]))


_TRUE = Buffer("always", 1, np.dtype(np.bool_), Role.CONSTANT, (1,), np.ones(1, np.bool_))
