"""Which buffers share memory: a result written over an operand that dies at that very statement.

Hand-written NumPy says ``g *= -lr; g += p``. The same happens here when the operand's last reader writes a buffer of
the same size in the same order of elements.
"""

from collections import defaultdict

from ipu_mlir.runtime.translator.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements import Elementwise, Program, Statement

Interval = tuple[int, int]


def lifetimes(program: Program) -> dict[Buffer, Interval]:
    """First write and last use of every temporary, as positions of statements; results live to the end."""
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    for position, statement in enumerate(program.statements):
        for access in (*statement.sources(), *statement.dests()):
            if access.buffer.role is Role.TEMPORARY:
                first.setdefault(access.buffer, position)
                last[access.buffer] = position
    for access in program.results:
        last[access.buffer] = len(program.statements)
    return {buffer: (start, last[buffer]) for buffer, start in first.items()}


def shared_places(program: Program) -> dict[Buffer, Buffer]:
    """The representative of each temporary's place; the result itself where a place belongs to a result."""
    live = lifetimes(program)
    results = {access.buffer for access in program.results}
    place: dict[Buffer, Buffer] = {}
    members: dict[Buffer, list[Buffer]] = defaultdict(list)
    for buffer in live:
        place[buffer] = buffer
        members[buffer].append(buffer)
    for position, statement in enumerate(program.statements):
        for out, operand in _in_place_pairs(statement):
            if live[operand][1] != position or operand in results or live[out][0] != position:
                continue
            a, b = place[out], place[operand]
            if a is b or (a in results and b in results) or _collide(members[a], members[b], live):
                continue
            if b in results:
                a, b = b, a
            for member in members.pop(b):
                place[member] = a
                members[a].append(member)
    return place


def _in_place_pairs(statement: Statement) -> list[tuple[Buffer, Buffer]]:
    """(result, operand) pairs of equal element size that are visited in the same order, element by element."""
    if not isinstance(statement, Elementwise) or len(statement.outputs) != 1:
        return []
    (out,) = statement.outputs
    sources = statement.sources()
    return [
        (out.buffer, source.buffer)
        for source in sources
        if source.buffer.role is Role.TEMPORARY
        and source.buffer.elements == out.buffer.elements
        and source.buffer.dtype.itemsize == out.buffer.dtype.itemsize
        and _same_elements(source, out, statement)
        and all(other == source or other.buffer is not source.buffer for other in sources)
    ]


def _same_elements(a: Access, b: Access, statement: Statement) -> bool:
    """True if both accesses name the same address at every point."""
    if a.offset != b.offset:
        return False
    return all(n == 1 or x == y for n, x, y in zip(statement.extents, a.strides, b.strides, strict=True))


def _collide(a: list[Buffer], b: list[Buffer], live: dict[Buffer, Interval]) -> bool:
    return any(live[x][0] < live[y][1] and live[y][0] < live[x][1] for x in a for y in b)
