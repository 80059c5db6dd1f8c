"""The reads and writes of buffers in a program with loops and branches, as positions on one line.

Every statement has a position, those inside a loop between those before and after it. A loop goes round, so what is
read inside but not made there is needed until its end.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ipu_mlir.runtime.translator.statements.access import Access, Buffer, digits_of_cover
from ipu_mlir.runtime.translator.statements.control import Branch, Control, ForLoop, WhileLoop
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Program, Statement

Interval = tuple[int, int]


@dataclass
class Span:
    """The positions of a loop. ``always`` is its block whose statements run in every round that is followed by another;
    ``leaving`` is the last position from which the loop may be left (for a loop over numbers: none)."""

    ids: frozenset[int]
    always: int
    start: int
    end: int = -1
    leaving: int | None = None


@dataclass(frozen=True)
class Event:
    """A use of a buffer."""

    position: int
    loops: tuple[int, ...]
    block: int | None
    replaces: bool = False
    """True if everything in the buffer is written and nothing of it read."""


@dataclass
class Timeline:
    """The uses of the buffers of a program."""

    reads: dict[Buffer, list[Event]] = field(default_factory=lambda: defaultdict(list))
    writes: dict[Buffer, list[Event]] = field(default_factory=lambda: defaultdict(list))
    spans: list[Span] = field(default_factory=list)
    position_of: dict[int, int] = field(default_factory=dict)
    simple: list[tuple[int, Statement]] = field(default_factory=list)
    end: int = 0
    left_by: dict[int, int] = field(default_factory=dict)
    """By the block that runs when a loop is left, that loop."""

    @staticmethod
    def of(program: Program) -> "Timeline":
        """The timeline of ``program``, whose results and state are read at its end."""
        line = Timeline()
        line._block(program.statements, (), None)
        for buffer in program.read_afterwards():
            line._note(line.reads, buffer, (), None)
        return line

    def _block(self, statements: Sequence[Statement], loops: tuple[int, ...], block: int | None) -> None:
        for statement in statements:
            self.position_of[id(statement)] = self.end
            match statement:
                case ForLoop():
                    self._scalars(statement.read_directly(), loops, block)
                    self._for(statement, loops)
                case WhileLoop():
                    self._while(statement, loops)
                case Branch():
                    self._scalars(statement.read_directly(), loops, block)
                    for number, inner in zip(statement.ids, statement.blocks(), strict=True):
                        self._block(inner, loops, number)
                case Control():
                    raise AssertionError(f"unknown control flow {statement!r}")
                case _:
                    self._leaf(statement, loops, block)

    def _for(self, loop: ForLoop, loops: tuple[int, ...]) -> None:
        inside = (*loops, len(self.spans))
        span = self._begin(frozenset(loop.ids), loop.ids[0])
        if loop.variable is not None:
            self._note(self.writes, loop.variable.buffer, inside, loop.ids[0])
            self.end += 1
        self._block(loop.body, inside, loop.ids[0])
        self._finish(span)

    def _while(self, loop: WhileLoop, loops: tuple[int, ...]) -> None:
        inside = (*loops, len(self.spans))
        self.left_by[loop.ids[2]] = len(self.spans)
        span = self._begin(frozenset(loop.ids), loop.ids[1])
        self._block(loop.before, inside, loop.ids[0])
        span.leaving = self.end
        self._scalars((loop.condition,), inside, loop.ids[0])
        self._block(loop.after, inside, loop.ids[1])
        self._finish(span)
        self._block(loop.leaving, loops, loop.ids[2])

    def _begin(self, ids: frozenset[int], always: int) -> Span:
        """A loop; its beginning and its end have positions of their own, so that no statement shares them."""
        span = Span(ids, always, self.end)
        self.spans.append(span)
        self.end += 1
        return span

    def _finish(self, span: Span) -> None:
        span.end = self.end
        self.end += 1

    def _scalars(self, accesses: Sequence[Access], loops: tuple[int, ...], block: int | None) -> None:
        for access in accesses:
            self._note(self.reads, access.buffer, loops, block)
        self.end += 1

    def _leaf(self, statement: Statement, loops: tuple[int, ...], block: int | None) -> None:
        read = {access.buffer for access in statement.sources()}
        for buffer in read:
            self._note(self.reads, buffer, loops, block)
        for dest in statement.dests():
            whole = (
                isinstance(statement, Elementwise)
                and dest.buffer not in read
                and digits_of_cover(dest, statement.extents) is not None
            )
            self._note(self.writes, dest.buffer, loops, block, replaces=whole)
        self.simple.append((self.end, statement))
        self.end += 1

    def _note(
        self,
        where: dict[Buffer, list[Event]],
        buffer: Buffer,
        loops: tuple[int, ...],
        block: int | None,
        replaces: bool = False,
    ) -> None:
        where[buffer].append(Event(self.end, loops, block, replaces))

    # -- questions

    def events(self, buffer: Buffer) -> list[Event]:
        """Every use of ``buffer``, in order."""
        return sorted([*self.reads.get(buffer, ()), *self.writes.get(buffer, ())], key=lambda event: event.position)

    def is_inside(self, buffer: Buffer, loop: int) -> bool:
        """True if each round of ``loop`` has a ``buffer`` of its own."""
        if buffer.home is not None:
            return not self.spans[loop].ids.isdisjoint(buffer.home)
        return all(loop in event.loops for event in self.events(buffer))

    def needed_until(self, buffer: Buffer) -> int:
        """The position of the last read of ``buffer``, or the end of a loop that reads it again; -1 if none."""
        found = -1
        for event in self.reads.get(buffer, ()):
            left = self.left_by.get(-1 if event.block is None else event.block)
            if left is not None and self.is_inside(buffer, left):  # nothing of the round comes after the condition
                found = max(found, self.spans[left].leaving or 0)
                continue
            ends = (self.spans[loop].end for loop in event.loops if not self.is_inside(buffer, loop))
            found = max(found, event.position, *ends)
        return found

    def changes_between(self, buffer: Buffer, after: int, until: int) -> bool:
        """True if something writes ``buffer`` later than at ``after``, and not later than at ``until``."""
        return any(after < event.position <= until for event in self.writes.get(buffer, ()))
