"""Buffer coalescing: a result is written over an operand whose live range ends at that very statement.

Hand-written NumPy says ``g *= -lr; g += p``. The same happens here when the operand's last reader writes a buffer of
the same size in the same order of elements.
"""

from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.expression import reads
from ipu_mlir.runtime.translator.statements.live_ranges import live_ranges, overlap, touching
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Program, SliceUpdate, Statement
from ipu_mlir.runtime.translator.statements.timeline import Interval, Timeline


def coalesced(program: Program) -> dict[Buffer, Buffer]:
    """The representative of each temporary's place; the result itself where a place belongs to a result."""
    timeline = Timeline.of(program)
    pairs = {position: _in_place_pairs(statement) for position, statement in timeline.simple}
    sharing = _Sharing({access.buffer for access in program.results}, live_ranges(timeline), pairs)
    if len(timeline.simple) != len(
        program.statements
    ):  # what loops and branches yield is best stored where it is copied to
        for position, statement in timeline.simple:
            if isinstance(statement, Elementwise) and statement.copied() is not None:
                sharing.join(position)
    for position, _ in timeline.simple:
        sharing.join(position)
    return sharing.place


class _Sharing:
    """The buffers that are in one place so far."""

    def __init__(
        self, results: set[Buffer], live: dict[Buffer, list[Interval]], pairs: dict[int, list[tuple[Buffer, Buffer]]]
    ) -> None:
        self._results, self._live, self._pairs = results, live, pairs
        self.place = {buffer: buffer for buffer in live}
        self._members = {buffer: [buffer] for buffer in live}

    def join(self, position: int) -> None:
        """Put the result of the statement at ``position`` where one of its operands is, if that dies there."""
        for out, operand in self._pairs[position]:
            a, b = self.place[out], self.place[operand]
            if a is b or (a in self._results and b in self._results):
                continue
            if position not in touching(self._live[out], self._live[operand]):
                continue
            if any(self._collide(x, y) for x in self._members[a] for y in self._members[b]):
                continue
            if b in self._results:
                a, b = b, a
            for member in self._members.pop(b):
                self.place[member] = a
                self._members[a].append(member)

    def _collide(self, a: Buffer, b: Buffer) -> bool:
        """True if both are alive at once, or one begins at a statement that still reads the other elsewhere."""
        if overlap(self._live[a], self._live[b]):
            return True
        for out, operand in ((a, b), (b, a)):
            for position in touching(self._live[out], self._live[operand]):
                if (out, operand) not in self._pairs.get(position, ()):
                    return True
        return False


def _in_place_pairs(statement: Statement) -> list[tuple[Buffer, Buffer]]:
    """(result, operand) pairs of equal element size that are visited in the same order, element by element."""
    if isinstance(statement, SliceUpdate):
        sources, (out,) = [statement.old], statement.dests()
        if any(source.buffer is statement.old.buffer for source in reads(statement.expressions())):
            return []
    elif isinstance(statement, Elementwise) and len(statement.outputs) == 1:
        sources, (out,) = statement.sources(), statement.outputs
    else:
        return []
    return [
        (out.buffer, source.buffer)
        for source in sources
        if source.buffer.role is out.buffer.role is Role.TEMPORARY
        and source.buffer.elements == out.buffer.elements
        and source.buffer.dtype.itemsize == out.buffer.dtype.itemsize
        and same_elements(source, out, statement)
        and all(other == source or other.buffer is not source.buffer for other in sources)
    ]


def stays(statement: Elementwise, places: dict[Buffer, Buffer]) -> bool:
    """True if ``statement`` copies something to where it is already."""
    source = statement.copied()
    if source is None:
        return False
    (out,) = statement.outputs
    return (
        places.get(out.buffer, out.buffer) is places.get(source.buffer, source.buffer)
        and out.buffer.dtype == source.buffer.dtype == statement.values[0].dtype
        and same_elements(source, out, statement)
    )


def same_elements(a: Access, b: Access, statement: Statement) -> bool:
    """True if both accesses name the same address at every point."""
    if a.offset != b.offset:
        return False
    return all(n == 1 or x == y for n, x, y in zip(statement.extents, a.strides, b.strides, strict=True))
