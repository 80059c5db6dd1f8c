"""Values that a round of a loop computes, for all rounds at once: the round is a first loop of the statements."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role, temporary
from ipu_mlir.runtime.translator.array_ir.control import ForLoop
from ipu_mlir.runtime.translator.array_ir.expression import (
    Const,
    Expression,
    Gather,
    LoopNumber,
    Read,
    apply,
    cast,
    rewrite,
)
from ipu_mlir.runtime.translator.array_ir.intervals import Ranges
from ipu_mlir.runtime.translator.array_ir.iota import INDEX, numbers
from ipu_mlir.runtime.translator.array_ir.linear import read_if_linear
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, Statement
from ipu_mlir.runtime.translator.array_ir.transform import standing

MOST_ELEMENTS = 1 << 20
"""Of a buffer that holds something of every round."""


@dataclass
class RoundValues:
    """The rounds of one loop, ``count`` of them, and what was made for all of them together.

    Attributes:
        body: what a round does, without branches around single updates.
        first, step: the number of the first round, and how far the next one is.
        changed: how many statements of a round write each buffer.
        producers: the statement that makes each buffer that a round has of its own.
        whole: for such a buffer, the one that holds it for all rounds.
        made: the statements for all rounds.
    """

    loop: ForLoop
    body: list[Statement]
    count: int
    first: int
    step: int
    changed: Counter[Buffer]
    producers: dict[Buffer, Elementwise] = field(default_factory=dict)
    whole: dict[Buffer, Buffer] = field(default_factory=dict)
    made: list[Statement] = field(default_factory=list)

    def _find_producers(self, outside: Counter[Buffer]) -> None:
        """Fill ``producers``; ``outside`` are the uses of buffers elsewhere in the program."""
        seen: set[Buffer] = set()
        for statement in self.body:
            used = {access.buffer for access in statement.sources()}
            if isinstance(statement, Elementwise):
                outputs = {out.buffer for out in statement.outputs}
                own = not outputs & (used | seen) and all(self._is_of_a_round(b) and not outside[b] for b in outputs)
                if own:
                    self.producers.update(dict.fromkeys(outputs, statement))
            seen |= used | {access.buffer for access in statement.dests()}

    def _is_of_a_round(self, buffer: Buffer) -> bool:
        return not buffer.mutable and buffer.role is Role.TEMPORARY and self.changed[buffer] == 1

    def _of_all_rounds(self, values: Sequence[Expression], extents: tuple[int, ...]) -> tuple[Expression, ...] | None:
        """``values`` with the round as a first loop; None if a round needs something of another."""
        ranges = Ranges((self.count, *extents))
        failed = False

        def change(node: Expression) -> Expression:
            nonlocal failed
            if isinstance(node, LoopNumber):
                return self._number(node.buffer, node.offset, len(extents), node.dtype)
            if isinstance(node, Read):
                if self._is_variable(node.access.buffer):
                    return self._number(node.access.buffer, 0, len(extents), node.dtype)
                moved = self._moved_access(node.access)
                failed = failed or moved is None
                return node if moved is None else Read(node.dtype, moved)
            if isinstance(node, Gather):
                moved = self._moved_access(node.access)
                failed = failed or moved is None
                return node if moved is None else read_if_linear(replace(node, access=moved), ranges)
            return ranges.decided(node)

        found = rewrite(values, change)
        return None if failed else tuple(found)

    def _is_variable(self, buffer: Buffer) -> bool:
        return self.loop.variable is not None and buffer is self.loop.variable.buffer

    def _number(self, buffer: Buffer, offset: int, rank: int, dtype: np.dtype) -> Expression:
        """The number of the round plus ``offset``; that of a loop around is the same in all rounds."""
        if not self._is_variable(buffer):
            return LoopNumber(dtype, buffer, offset)
        number: Expression = Read(INDEX, Access(numbers(self.count), 0, (1,) + (0,) * rank))
        if self.step != 1:
            number = apply("multiply", number, Const.of(self.step, INDEX))
        if self.first + offset:
            number = apply("add", number, Const.of(self.first + offset, INDEX))
        return cast(number, dtype)

    def _moved_access(self, access: Access) -> Access | None:
        """``access`` with the round as a first loop."""
        buffer = access.buffer
        if buffer in self.producers:
            whole = self._whole(buffer)
            return None if whole is None else Access(whole, access.offset, (buffer.elements, *access.strides))
        if self.changed[buffer] or self._is_variable(buffer):
            return None
        return Access(buffer, access.offset, (0, *access.strides))

    def _whole(self, buffer: Buffer) -> Buffer | None:
        """The buffer that holds what ``buffer`` holds in each round; its statement is made."""
        if buffer in self.whole:
            return self.whole[buffer]
        producer = self.producers[buffer]
        if any(out.buffer.elements * self.count > MOST_ELEMENTS for out in producer.outputs):
            return None
        values = self._of_all_rounds(producer.values, producer.extents)
        if values is None:
            return None
        outputs = []
        for out in producer.outputs:
            old = out.buffer
            whole = replace(old, elements=old.elements * self.count, shape=(self.count, *old.shape), home=None)
            outputs.append(Access(whole, out.offset, (old.elements, *out.strides)))
            self.whole[old] = whole
        extents = (self.count, *producer.extents)
        self.made.append(Elementwise(extents, producer.origin, tuple(outputs), values))
        return self.whole[buffer]

    def _inlined(self, value: Expression, out: Buffer) -> tuple[Expression, list[Statement]]:
        """``value`` with what a round has read of ``out`` before in its place, and the statements that read it."""
        helpers: list[Statement] = []

        def change(node: Expression) -> Expression:
            if not isinstance(node, Read) or node.access.buffer not in self.producers or node.access.loops():
                return node
            producer = self.producers[node.access.buffer]
            if len(producer.values) != 1 or prod(producer.extents) != 1 or node.dtype != producer.values[0].dtype:
                return node
            if all(access.buffer is not out for access in producer.sources()):
                return node
            helpers.append(producer)
            return standing(producer.values[0], len(node.access.strides))

        return rewrite([value], change)[0], helpers

    def _held(self, name: str, value: Expression, extents: tuple[int, ...], update: Statement) -> Buffer:
        """A new buffer with ``value``."""
        access = temporary(name, value.dtype, extents, list(range(len(extents))))
        self.made.append(Elementwise(extents, update.origin, (access,), (value,)))
        return access.buffer
