"""Control flow as steps, and all steps on one line for the plan of memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ipu_mlir.runtime.translator.codegen.schedule import BlockLoop, Call, ControlStep, Loop, Step, View
from ipu_mlir.runtime.translator.statements.access import Access, Buffer
from ipu_mlir.runtime.translator.statements.control import Branch, Control, ForLoop, WhileLoop
from ipu_mlir.runtime.translator.statements.types import unsigned as unsigned_type


def control_step(statement: Control, blocks: tuple[tuple[Step, ...], ...]) -> ControlStep:
    """The step of ``statement``, whose blocks have become ``blocks``."""
    kind: Literal["for", "while", "if"]
    match statement:
        case ForLoop():
            kind, scalars = "for", (statement.lower, statement.upper, statement.step)
        case WhileLoop():
            kind, scalars = "while", (statement.condition,)
        case Branch():
            kind, scalars = "if", (statement.condition,)
        case _:
            raise AssertionError(f"unknown control flow {statement!r}")
    unsigned = isinstance(statement, ForLoop) and statement.unsigned
    variable = None
    if isinstance(statement, ForLoop) and statement.variable is not None:
        variable = _scalar_view(statement.variable, unsigned)
    if variable is not None and not _uses(blocks, variable.buffer):
        variable = None
    number = statement.variable.buffer if isinstance(statement, ForLoop) and statement.variable else None
    views = tuple(scalar if isinstance(scalar, int) else _scalar_view(scalar, unsigned) for scalar in scalars)
    return ControlStep(kind, views, variable, blocks, statement.ids, statement.origin, number)


def _scalar_view(access: Access, unsigned: bool) -> View:
    dtype = unsigned_type(access.buffer.dtype) if unsigned else access.buffer.dtype
    return View(access.buffer, dtype, access.offset, (), ())


def _uses(blocks: Sequence[Sequence[Step]], buffer: Buffer) -> bool:
    return any(view.buffer is buffer for block in blocks for step in block for view in views_of(step))


def views_of(step: Step) -> Iterator[View]:
    """Every view that ``step`` uses, at any depth."""
    match step:
        case ControlStep():
            yield from (scalar for scalar in step.scalars if isinstance(scalar, View))
            if step.variable is not None:
                yield step.variable
            for block in step.blocks:
                for inner in block:
                    yield from views_of(inner)
        case Call():
            yield from (operand for operand in step.operands if isinstance(operand, View))
            yield step.out
        case Loop() | BlockLoop():
            for call in step.calls:
                yield from views_of(call)


@dataclass
class _Round:
    """The positions of a loop, and the blocks that run once per iteration."""

    ids: frozenset[int]
    start: int
    end: int


@dataclass
class StepTimeline:
    """First and last use of every buffer; what outlives an iteration of a loop is in use throughout the loop."""

    uses: dict[Buffer, list[tuple[int, tuple[int, ...]]]] = field(default_factory=dict)
    rounds: list[_Round] = field(default_factory=list)
    position: int = 0

    @staticmethod
    def of(steps: Sequence[Step]) -> "StepTimeline":
        """The uses in ``steps``."""
        line = StepTimeline()
        line._block(steps, ())
        return line

    def interval(self, sharing: Sequence[Buffer]) -> tuple[int, int] | None:
        """The positions from which to which the memory that buffers share holds what somebody needs; None if never."""
        used = [use for buffer in sharing for use in self.uses.get(buffer, ())]
        if not used:
            return None
        start, end = min(position for position, _ in used), max(position for position, _ in used)
        for loop in {loop for _, loops in used for loop in loops}:
            span = self.rounds[loop]
            if not all(self._is_inside(buffer, loop) for buffer in sharing):
                start, end = min(start, span.start), max(end, span.end)
        return start, end

    def _is_inside(self, buffer: Buffer, loop: int) -> bool:
        """True if each iteration of ``loop`` has a ``buffer`` of its own."""
        if buffer.home is None:
            return all(loop in loops for _, loops in self.uses.get(buffer, ()))
        return not self.rounds[loop].ids.isdisjoint(buffer.home)

    def _block(self, steps: Sequence[Step], loops: tuple[int, ...]) -> None:
        for step in steps:
            if isinstance(step, ControlStep):
                self._control(step, loops)
            else:
                self._note(views_of(step), loops)

    def _control(self, step: ControlStep, loops: tuple[int, ...]) -> None:
        scalars = [scalar for scalar in step.scalars if isinstance(scalar, View)]
        if step.kind == "if":
            self._note(scalars, loops)
            for block in step.blocks:
                self._block(block, loops)
            return
        if step.kind == "for":
            self._note(scalars, loops)
        inside = (*loops, len(self.rounds))
        span = _Round(frozenset(step.ids), self.position, self.position)
        self.rounds.append(span)
        if step.variable is not None:
            self._note([step.variable], inside)
        for block in step.blocks[:2]:
            self._block(block, inside)
            if step.kind == "while" and block is step.blocks[0]:
                self._note(scalars, inside)
        span.end = max(span.start, self.position - 1)
        for block in step.blocks[2:]:
            self._block(block, loops)

    def _note(self, views: Iterable[View], loops: tuple[int, ...]) -> None:
        for view in views:
            self.uses.setdefault(view.buffer, []).append((self.position, loops))
        self.position += 1
