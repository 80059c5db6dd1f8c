"""Facts that the number of a round decides: bounds, choices, and whole numbers that differ from it by a constant.

An index that has gone through ``i < 0 ? i + n : i`` and through clips is the number of the round itself; the numbers in
between need no memory, and what they index is known to be there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import Branch, in_blocks
from ipu_mlir.runtime.translator.array_ir.expression import Apply, Const, Expression, Read, apply, cast
from ipu_mlir.runtime.translator.array_ir.intervals import Interval, Ranges
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, Fold, Program, SliceUpdate, Statement
from ipu_mlir.runtime.translator.array_ir.transform import (
    in_outer_block,
    standing,
    with_other_buffers,
    with_rewritten_values,
)
from ipu_mlir.runtime.translator.array_ir.types import is_integer
from ipu_mlir.runtime.translator.optimize.simplify import evaluate


def with_known_numbers(program: Program) -> Program:
    """Decide what the numbers of rounds decide, and read numbers that follow from them off them."""
    numbers = _Numbers()
    found = program.with_statements(numbers.block(program.statements, {}))
    others = {b: replace(b, bounds=interval) for b, interval in numbers.intervals.items()}
    return in_outer_block(with_other_buffers(found, others), numbers.opened)


@dataclass
class _Numbers:
    """Facts about single numbers that are written once.

    Attributes:
        truths: the truth values that are always the same.
        opened: blocks of branches that are always taken, whose statements now stand where the branch stood.
    """

    intervals: dict[Buffer, Interval] = field(default_factory=dict)
    truths: dict[Buffer, bool] = field(default_factory=dict)
    opened: set[int] = field(default_factory=set)

    def block(self, statements: Sequence[Statement], around: dict[Buffer, Expression]) -> list[Statement]:
        """``statements``, in which a read of a buffer in ``around`` is what stands there."""
        following = dict(around)  # what a block finds out holds to its end: the number of a round is that of the round
        found: list[Statement] = []
        for old in statements:
            if isinstance(old, Branch) and old.condition.buffer in self.truths:
                taken = 0 if self.truths[old.condition.buffer] else 1
                self.opened.add(old.ids[taken])
                found += self.block(old.blocks()[taken], following)
                continue
            statement = in_blocks(old, lambda block: self.block(block, following))
            if isinstance(statement, Elementwise | Fold | SliceUpdate):
                statement = self._decided(statement, following)
            if isinstance(statement, Elementwise):
                self._learn(statement, following)
            found.append(statement)
        return found

    def _decided(self, statement: Elementwise | Fold | SliceUpdate, following: dict[Buffer, Expression]) -> Statement:
        buffers = {access.buffer for access in statement.sources()}
        if not any(b.bounds or b in following or b in self.intervals for b in buffers):
            return statement
        ranges = Ranges(statement.extents, self.intervals)
        rank = len(statement.extents)

        def change(node: Expression) -> Expression:
            if not isinstance(node, Read) or node.access.buffer not in following:
                found = ranges.decided(node)
                is_known = isinstance(found, Apply) and all(isinstance(arg, Const) for arg in found.args)
                return evaluate(found) if is_known and isinstance(found, Apply) else found
            number = following[node.access.buffer]
            return standing(number, rank) if number.dtype == node.dtype else node

        return with_rewritten_values(statement, change)

    def _learn(self, statement: Elementwise, following: dict[Buffer, Expression]) -> None:
        """Note what is now known of the numbers that ``statement`` writes."""
        if prod(statement.extents) != 1:
            return
        ranges = Ranges(statement.extents, self.intervals)
        for out, value in zip(statement.outputs, statement.values, strict=True):
            buffer = out.buffer
            if (
                buffer.elements != 1
                or buffer.mutable
                or buffer.role is not Role.TEMPORARY
                or value.dtype != buffer.dtype
            ):
                continue
            if isinstance(value, Const) and buffer.dtype.kind == "b":
                self.truths[buffer] = bool(value.value)
            interval = ranges.of(value) if is_integer(buffer.dtype) else None
            if interval is None:
                continue
            self.intervals[buffer] = interval
            found = _followed(value, ranges)
            if found is not None:
                following[buffer] = found


def _followed(value: Expression, ranges: Ranges) -> Expression | None:
    """``value`` as ``factor * variable + constant`` in the fewest operations; None if it is no such number."""
    found = _linear(value, ranges)
    if found is None:
        return None
    variable, factor, constant = found
    number: Expression = Read(variable.dtype, Access(variable, 0, ()))
    if factor == -1:
        number = apply("subtract", Const.of(constant, variable.dtype), number)
    else:
        if factor != 1:
            number = apply("multiply", number, Const.of(factor, variable.dtype))
        if constant:
            number = apply("add" if constant > 0 else "subtract", number, Const.of(abs(constant), variable.dtype))
    return cast(number, value.dtype) if Ranges(()).of(number) is not None else None


def _linear(node: Expression, ranges: Ranges) -> tuple[Buffer, int, int] | None:
    """The variable of a loop, a factor and a constant; no number on the way leaves its type."""
    if ranges.of(node) is None:
        return None
    match node:
        case Read() if node.access.buffer.counts and node.dtype == node.access.buffer.dtype:
            return node.access.buffer, 1, 0
        case Apply(call="cast"):
            return _linear(node.args[0], ranges)
        case Apply(call="add" | "subtract" | "multiply" as call):
            for here in (0, 1):
                by, part = node.args[1 - here], _linear(node.args[here], ranges)
                if part is None or not isinstance(by, Const):
                    continue
                variable, factor, constant = part
                number = int(by.value)
                if call == "multiply":
                    return variable, factor * number, constant * number
                if call == "add":
                    return variable, factor, constant + number
                return (variable, factor, constant - number) if here == 0 else (variable, -factor, number - constant)
    return None
