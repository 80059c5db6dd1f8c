"""Statements with statements inside: loops and branches of the function.

A value that a block yields (a carried buffer, a result) has a buffer of its own, into which the blocks copy it.
``coalescing`` later lets the two sides of such a copy share memory where they can, so that most of the copies vanish.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

from ipu_mlir.dialects.ipu import HOST_CALLS
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.statements import Program, Statement, Transfer

Block = tuple[Statement, ...]
Bound = int | Access
"""A number that is known, or an integer scalar in memory."""


@dataclass(frozen=True)
class Control(Statement):
    """Has no loops of its own (``extents`` is empty); reads and writes whatever its blocks do, in any order.

    ``ids`` names its blocks, each with a number of its own: the path of a block is the numbers of the blocks around it.
    """

    ids: tuple[int, ...]

    BLOCKS: ClassVar[tuple[str, ...]]
    """The fields that are blocks, in an order in which values go from one block to the next."""
    SCALARS: ClassVar[tuple[str, ...]]
    """The fields that are the scalars which decide where control goes, as far as they are in memory."""

    def blocks(self) -> tuple[Block, ...]:
        """The blocks inside, in the order of ``BLOCKS``."""
        return tuple(getattr(self, name) for name in self.BLOCKS)

    def with_blocks(self, blocks: Sequence[Sequence[Statement]]) -> Self:
        """The same with other statements inside."""
        return replace(self, **{name: tuple(block) for name, block in zip(self.BLOCKS, blocks, strict=True)})

    def read_directly(self) -> tuple[Access, ...]:
        """The scalars that decide where control goes."""
        values = (getattr(self, name) for name in self.SCALARS)
        return tuple(value for value in values if isinstance(value, Access))

    def with_scalars(self, change: Callable[[Access], Access]) -> Self:
        """The same with other scalars that decide."""
        values = {name: getattr(self, name) for name in self.SCALARS}
        changed = {name: change(value) for name, value in values.items() if isinstance(value, Access)}
        return replace(self, **changed) if changed else self

    def changed(self, block: Callable[[Block], Sequence[Statement]], scalar: Callable[[Access], Access]) -> Self:
        """The same with ``block`` applied to each of its blocks, in order, and then ``scalar`` to what decides."""
        return self.with_blocks([block(each) for each in self.blocks()]).with_scalars(scalar)

    @cached_property
    def _reads(self) -> tuple[Access, ...]:
        inside = (a.buffer for block in self.blocks() for s in block for a in s.sources())
        return _standing([a.buffer for a in self.read_directly()], inside)

    @cached_property
    def _writes(self) -> tuple[Access, ...]:
        return _standing(a.buffer for block in self.blocks() for s in block for a in s.dests())

    def sources(self) -> list[Access]:
        return list(self._reads)

    def dests(self) -> list[Access]:
        return list(self._writes)


@dataclass(frozen=True)
class ForLoop(Control):
    """``body`` for ``variable`` = ``lower``, ``lower + step``, ... below ``upper``."""

    lower: Bound
    upper: Bound
    step: Bound
    variable: Access | None
    body: Block
    unsigned: bool = False
    """Bounds in memory, and the variable, are numbers without a sign."""

    BLOCKS = ("body",)
    SCALARS = ("lower", "upper", "step")

    def dests(self) -> list[Access]:
        variable = [self.variable.buffer] if self.variable else []
        return list(_standing(variable, [access.buffer for access in Control.dests(self)]))


@dataclass(frozen=True)
class WhileLoop(Control):
    """``before``; while ``condition`` holds, ``after`` and again; else ``leaving`` once, and out."""

    condition: Access
    before: Block
    after: Block
    leaving: Block

    BLOCKS = ("before", "after", "leaving")
    SCALARS = ("condition",)


@dataclass(frozen=True)
class Branch(Control):
    """``yes`` if ``condition`` holds, else ``no``."""

    condition: Access
    yes: Block
    no: Block

    BLOCKS = ("yes", "no")
    SCALARS = ("condition",)


def known_rounds(lower: Bound, upper: Bound, step: Bound) -> tuple[int, int] | None:
    """The lowest and the highest number that a loop counts, if both are known and there is one.

    >>> known_rounds(1, 10, 3), known_rounds(4, 4, 1)
    ((1, 7), None)
    """
    if not (isinstance(lower, int) and isinstance(upper, int) and isinstance(step, int)):
        return None
    numbers = range(lower, upper, step) if step > 0 else range(0)
    return (numbers[0], numbers[-1]) if numbers else None


def in_blocks(statement: Statement, change: Callable[[Block], Sequence[Statement]]) -> Statement:
    """``statement`` with ``change`` applied to each of its blocks, if it has any."""
    if not isinstance(statement, Control):
        return statement
    return statement.with_blocks([change(block) for block in statement.blocks()])


def all_statements(statements: Sequence[Statement]) -> list[Statement]:
    """Every statement at every depth, outer ones before what is inside."""
    found: list[Statement] = []
    for statement in statements:
        found.append(statement)
        if isinstance(statement, Control):
            found += [inner for block in statement.blocks() for inner in all_statements(block)]
    return found


def read_by(statement: Statement) -> Sequence[Access]:
    """The accesses that ``statement`` itself reads, without the statements inside."""
    return statement.read_directly() if isinstance(statement, Control) else statement.sources()


def transfers_by(program: Program, who: str) -> list[Transfer]:
    """The calls of ``streams`` or ``remote`` in ``program`` and its functions."""
    inside = [each for part in (program, *program.functions) for each in all_statements(part.statements)]
    found = [statement for statement in inside if isinstance(statement, Transfer)]
    return [each for each in found if HOST_CALLS[each.codelet].server == who]


def _standing(*groups) -> tuple[Access, ...]:
    """An access of each buffer that says no more than that it is used."""
    return tuple(Access(buffer, 0, ()) for buffer in dict.fromkeys(buffer for group in groups for buffer in group))
