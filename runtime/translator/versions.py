"""Values again: a buffer that is overwritten as a whole becomes a new buffer.

Bufferization reuses memory (a fill and a sum in one buffer, results written over dying operands). What reads the old
contents and what reads the new ones are told apart here, so that everything after sees buffers written once.
"""

from dataclasses import replace

from ipu_mlir.runtime.translator.access import Access, Buffer, Role, digits_of_cover
from ipu_mlir.runtime.translator.statements import LibraryCall, Program, Statement
from ipu_mlir.runtime.translator.transform import parallel_extents, with_accesses


def with_versions(program: Program) -> Program:
    """``program`` in which every buffer that is not ``mutable`` is written by exactly one statement, completely."""
    current: dict[Buffer, Buffer] = {}
    written: set[Buffer] = set()

    def now(access: Access) -> Access:
        return replace(access, buffer=current.get(access.buffer, access.buffer))

    statements: list[Statement] = []
    for statement in program.statements:
        extents = parallel_extents(statement)
        fresh: dict[Access, Access] = {}
        for dest in statement.dests():
            if isinstance(statement, LibraryCall):
                fresh[dest] = now(dest)  # codelets may update in place, and work on whole arrays: no new value
                fresh[dest].buffer.mutable = True
            else:
                fresh[dest] = _dest(now(dest), extents, written)
        statements.append(with_accesses(statement, now, lambda dest, fresh=fresh: fresh[dest]))
        for old, new in fresh.items():
            current[old.buffer] = new.buffer
            written.add(new.buffer)
    results = tuple(map(now, program.results))
    return replace(program, statements=tuple(statements), results=results)


def _dest(dest: Access, extents: tuple[int, ...], written: set[Buffer]) -> Access:
    """Where to write: a new buffer if everything is overwritten, else the old one, which is then mutable."""
    buffer = dest.buffer
    if buffer.role is not Role.TEMPORARY or digits_of_cover(dest, extents) is None:
        buffer.mutable = True
        return dest
    if buffer not in written:
        return dest
    return replace(dest, buffer=Buffer(buffer.name, buffer.elements, buffer.dtype, Role.TEMPORARY, buffer.shape))
