"""Names that are the memory of one of several buffers: ``arith.select`` of buffers, and results of branches.

Such a value may alias several buffers. It gets a buffer of its own, a copy of the one that is selected. Where an alias
of that one is written, the copy is stale and is made again before it is read; what is written to the copy is copied
back. Programs of bufferization need neither, other programs may.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.importing.whole_views import copy_of
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.control import Block, Branch, Control, WhileLoop, all_statements
from ipu_mlir.runtime.translator.statements.statements import Statement


@dataclass(frozen=True)
class Choice:
    """``yes`` if ``condition`` holds, else ``no``; None is memory that has no other name."""

    condition: Access
    yes: "Alternative"
    no: "Alternative"


Alternative = Choice | BufferView | None


@dataclass(frozen=True)
class Chosen(Statement):
    """From here on ``name`` is the memory that ``choice`` says; whether it ``holds`` what lies there already.

    No step of translation but ``with_choices`` sees this statement.
    """

    name: BufferView
    choice: Choice
    holds: bool

    def sources(self) -> list[Access]:
        return []

    def dests(self) -> list[Access]:
        return []


def seen_through(choice: Alternative, view: BufferView) -> Alternative:
    """``choice`` of what ``view``, a view of the name that stands for ``choice``, shows."""
    if isinstance(choice, Choice):
        return replace(choice, yes=seen_through(choice.yes, view), no=seen_through(choice.no, view))
    return choice and replace(view, buffer=choice.buffer)  # all alternatives are of one type


def with_choices(
    statements: Sequence[Statement], results: Sequence[BufferView], new_block: Callable[[], int]
) -> list[Statement]:
    """``statements`` with copies in place of each ``Chosen``; ``results`` are read at the end."""
    chosen = {s.name.buffer: s for s in all_statements(statements) if isinstance(s, Chosen)}
    if not chosen:
        return list(statements)
    copies = _Copies(chosen, new_block)
    found, stale = copies.block(statements, frozenset())
    for view in results:
        stale = copies.refresh(view.buffer, stale, found)
    return found


_Names = frozenset[Buffer]


class _Copies:
    """Follows which names are ``stale``: perhaps their memory was written under another name."""

    def __init__(self, chosen: dict[Buffer, Chosen], new_block: Callable[[], int]) -> None:
        self._chosen = chosen
        self._new_block = new_block
        self._roots: dict[Buffer, _Names] = {}
        self._made: _Names = frozenset()  # the names whose value the branch that is looked at hands on

    def block(self, statements: Sequence[Statement], stale: _Names) -> tuple[list[Statement], _Names]:
        """The statements of a block that begins with these names stale, and those that are stale at its end."""
        found: list[Statement] = []
        for position, statement in enumerate(statements):
            if isinstance(statement, Chosen):
                stale = stale - {statement.name.buffer} if statement.holds else stale | {statement.name.buffer}
            elif isinstance(statement, Branch):
                outer = self._made
                self._made |= _yielded(statements[position + 1 :])
                stale = self._branch(statement, stale, found)
                self._made = outer
            elif isinstance(statement, Control):
                stale = self._loop(statement, stale, found)
            else:
                stale = self._simple(statement, stale, found)
        return found, stale

    def refresh(self, name: Buffer, stale: _Names, found: list[Statement]) -> _Names:
        """Copy what ``name`` stands for into its buffer, if that is another by now; the names that are stale then."""
        if name not in stale:
            return stale
        chosen = self._chosen[name]
        for buffer in buffers_of(chosen.choice):
            stale = self.refresh(buffer, stale, found)
        found.extend(self._chosen_copy(chosen.choice, lambda view: [copy_of(view, chosen.name, chosen.origin)]))
        return stale - {name}

    def _simple(self, statement: Statement, stale: _Names, found: list[Statement]) -> _Names:
        written = {dest.buffer for dest in statement.dests()}
        used = [access.buffer for access in (*statement.sources(), *statement.dests())]
        for buffer in dict.fromkeys([*used, *self._written_through(written)]):
            if buffer not in self._made:
                stale = self.refresh(buffer, stale, found)
        found.append(statement)
        for buffer in written - self._made:
            found.extend(self._written_back(buffer))
            stale |= self._others(buffer)
        return stale

    def _written_through(self, written: Iterable[Buffer]) -> Iterator[Buffer]:
        """The names that those which are written stand for, to which they are copied back."""
        for name in written:
            if name in self._chosen and name not in self._made:
                found = list(buffers_of(self._chosen[name].choice))
                yield from found
                yield from self._written_through(found)

    def _written_back(self, name: Buffer) -> list[Statement]:
        """Copy what ``name`` holds to the memory that it stands for."""
        if name not in self._chosen:
            return []
        chosen = self._chosen[name]
        return self._chosen_copy(
            chosen.choice,
            lambda view: (
                [copy_of(chosen.name, view, chosen.origin), *self._written_back(view.buffer)]
                if view.buffer.role in (Role.TEMPORARY, Role.STATE)  # nobody writes arguments and constants
                else []
            ),
        )

    def _chosen_copy(self, choice: Alternative, copy: Callable[[BufferView], list[Statement]]) -> list[Statement]:
        """``copy`` of the view that ``choice`` says."""
        if choice is None:
            return []
        if isinstance(choice, BufferView):
            return copy(choice)
        yes, no = (tuple(self._chosen_copy(each, copy)) for each in (choice.yes, choice.no))
        if not yes and not no:
            return []
        ids = self._new_block(), self._new_block()
        return [Branch((), (yes or no)[0].origin, ids, choice.condition, yes, no)]

    def _branch(self, branch: Branch, stale: _Names, found: list[Statement]) -> _Names:
        blocks, after = zip(*(self.block(block, stale) for block in branch.blocks()), strict=True)
        found.append(branch.with_blocks(blocks))
        return frozenset().union(*after)

    def _loop(self, loop: Control, stale: _Names, found: list[Statement]) -> _Names:
        """Copy once, before the loop, what no iteration makes stale."""
        inside = [statement for statement in all_statements([loop]) if not isinstance(statement, Control)]
        made = {statement.name.buffer for statement in inside if isinstance(statement, Chosen)}
        used = {access.buffer for statement in inside for access in (*statement.sources(), *statement.dests())}
        again = frozenset().union(*(self._others(dest.buffer) for statement in inside for dest in statement.dests()))
        for name in self._chosen:
            if name in used - made and name in stale - again:
                stale = self.refresh(name, stale, found)
        stale |= again
        blocks: list[Block] = []
        inner = stale
        for block in loop.blocks():
            statements, after = self.block(block, inner)
            blocks.append(tuple(statements))
            inner = after if isinstance(loop, WhileLoop) and len(blocks) == 1 else inner
        found.append(loop.with_blocks(blocks))
        return stale - made

    def _others(self, written: Buffer) -> _Names:
        """The other names of memory that is written under this one."""
        roots = self._roots_of(written)
        return frozenset(name for name in self._chosen if name is not written and roots & self._roots_of(name))

    def _roots_of(self, buffer: Buffer) -> _Names:
        if buffer not in self._roots:
            found = {buffer}
            if buffer in self._chosen:
                found.update(*map(self._roots_of, buffers_of(self._chosen[buffer].choice)))
            self._roots[buffer] = frozenset(found)
        return self._roots[buffer]


def _yielded(statements: Sequence[Statement]) -> _Names:
    """The results of a branch that these statements come after."""
    found: set[Buffer] = set()
    for statement in statements:
        if not isinstance(statement, Chosen) or not statement.holds:
            break
        found.add(statement.name.buffer)
    return frozenset(found)


def buffers_of(choice: Alternative) -> Iterator[Buffer]:
    """Every buffer that may be meant."""
    if isinstance(choice, Choice):
        yield from buffers_of(choice.yes)
        yield from buffers_of(choice.no)
    elif choice is not None:
        yield choice.buffer
