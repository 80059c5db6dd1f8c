"""Values again: a buffer that is overwritten as a whole becomes a new buffer.

Bufferization reuses memory (a fill and a sum in one buffer, results written over dying operands). What reads the old
contents and what reads the new ones are told apart here, so that everything after sees buffers written once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, digits_of_cover
from ipu_mlir.runtime.translator.statements.control import Control, WhileLoop
from ipu_mlir.runtime.translator.statements.statements import LibraryCall, Program, Statement
from ipu_mlir.runtime.translator.statements.transform import parallel_extents, with_accesses, with_other_buffers


def with_versions(program: Program) -> Program:
    """Give every buffer one writer: what is overwritten whole becomes a new buffer, any other is ``mutable``."""
    versions = _Versions()
    statements, current = versions.block(program.statements, (), {})
    results = tuple(_now(access, current) for access in program.results)
    renamed = replace(program, statements=tuple(statements), results=results)
    return with_other_buffers(renamed, {b: replace(b, mutable=True) for b in versions.mutable if not b.mutable})


_Current = dict[Buffer, Buffer]


def _now(access: Access, current: _Current) -> Access:
    return replace(access, buffer=current.get(access.buffer, access.buffer))


@dataclass
class _Versions:
    """Gives buffers new versions, block by block.

    ``written`` are those that hold something already, ``mutable`` those with several writers or written in part.
    """

    written: set[Buffer] = field(default_factory=set)
    mutable: set[Buffer] = field(default_factory=set)

    def block(
        self, statements: Sequence[Statement], path: tuple[int, ...], current: _Current
    ) -> tuple[list[Statement], _Current]:
        """The statements of the block at ``path``, and the versions at its end; ``current`` are those before it."""
        current = dict(current)
        found: list[Statement] = []
        for statement in statements:
            if isinstance(statement, Control):
                found.append(self._control(statement, path, current))
            else:
                found.append(self._simple(statement, path, current))
        return found, current

    def _control(self, statement: Control, path: tuple[int, ...], current: _Current) -> Control:
        """A loop reads what is current when it begins, then what it left there itself: nothing outside is renamed."""
        blocks, inside = [], current
        scalars = current
        for position, (number, block) in enumerate(zip(statement.ids, statement.blocks(), strict=True)):
            new, after = self.block(block, (*path, number), inside)
            blocks.append(new)
            if isinstance(statement, WhileLoop) and position == 0:
                inside = scalars = after  # the other two blocks run after the first
        return statement.with_blocks(blocks).with_scalars(lambda access: _now(access, scalars))

    def _simple(self, statement: Statement, path: tuple[int, ...], current: _Current) -> Statement:
        extents = parallel_extents(statement)
        fresh: dict[Access, Access] = {}
        for dest in statement.dests():
            here = _now(dest, current)
            home = here.buffer.home
            if isinstance(statement, LibraryCall) or (home is not None and home != path):
                fresh[dest] = here  # a codelet may update in place; what is of another block has one name everywhere
                self.mutable.add(here.buffer)
            else:
                fresh[dest] = self._dest(here, extents)
        found = with_accesses(statement, lambda access: _now(access, current), lambda dest: fresh[dest])
        for old, new in fresh.items():
            current[old.buffer] = new.buffer
            self.written.add(new.buffer)
        return found

    def _dest(self, dest: Access, extents: tuple[int, ...]) -> Access:
        """Where to write: a new buffer if everything is overwritten, else the old one, which is then mutable."""
        buffer = dest.buffer
        if buffer.role is not Role.TEMPORARY or digits_of_cover(dest, extents) is None:
            self.mutable.add(buffer)
            return dest
        if buffer not in self.written:
            return dest
        return replace(dest, buffer=replace(buffer, mutable=False))
