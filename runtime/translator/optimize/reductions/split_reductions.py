"""Reductions that are split between tiles are one reduction again.

On the machine each tile folds its block of a long axis into a partial result, and a later compute set folds those.
Here that is one operation on memory that everybody sees: partial results that nobody else reads are not made.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ipu_mlir.runtime.translator.array_ir.access import Buffer, digits_of_cover
from ipu_mlir.runtime.translator.array_ir.control import Control, all_statements, in_blocks
from ipu_mlir.runtime.translator.array_ir.expression import Const, Read
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, Fold, Program, Statement
from ipu_mlir.runtime.translator.optimize.aliases import Copied, copied_by, splat_constants, with_sources
from ipu_mlir.runtime.translator.optimize.reductions.whole_reduction import (
    accumulating,
    folding_of,
    starts_neutral,
    united,
)


def without_split_reductions(program: Program) -> Program:
    """Merge partial results and their combination into one ``Fold``.

    Needs the versions of ``with_versions``. What filled the partial results is left for ``without_dead``.
    """
    readers: dict[Buffer, set[int]] = defaultdict(set)
    for statement in all_statements(program.statements):
        accesses = statement.read_directly() if isinstance(statement, Control) else statement.sources()
        for access in accesses:
            readers[access.buffer].add(id(statement))
    for buffer in program.read_afterwards():
        readers[buffer].add(0)
    return program.with_statements(_block(program.statements, dict(splat_constants(program)), readers))


@dataclass(frozen=True)
class _Partial:
    """Partial results: ``folds`` add to a buffer that began neutral, which ``buffers`` show, the last as a copy."""

    folds: tuple[Fold, ...]
    positions: tuple[int, ...]  # in the block, of the folds and of the copies
    statements: frozenset[int]  # the same as they were, by identity
    buffers: tuple[Buffer, ...]
    copied: Copied | None = None


@dataclass
class _Contents:
    """What buffers hold at one point of a block, and who has read a buffer while it was filled."""

    filled: dict[Buffer, Const]
    partial: dict[Buffer, _Partial] = field(default_factory=dict)
    early: dict[Buffer, set[int]] = field(default_factory=lambda: defaultdict(set))

    def forget(self, buffer: Buffer) -> None:
        self.filled.pop(buffer, None)
        self.partial.pop(buffer, None)


def _block(
    statements: Sequence[Statement], filled: dict[Buffer, Const], readers: dict[Buffer, set[int]]
) -> list[Statement]:
    """The statements of a block before which the buffers in ``filled`` hold one scalar everywhere."""
    contents = _Contents(dict(filled))
    found: list[Statement | None] = []
    for old in statements:
        if isinstance(old, Control):
            for dest in old.dests():
                contents.forget(dest.buffer)
            found.append(in_blocks(old, lambda inner: _block(inner, contents.filled, readers)))
            continue
        for statement in _whole_tree(old, contents, found, readers):
            _note(statement, old, len(found), contents)
            found.append(statement)
    return [statement for statement in found if statement is not None]


def _whole_tree(
    old: Statement, contents: _Contents, found: list[Statement | None], readers: dict[Buffer, set[int]]
) -> list[Statement]:
    """What to do instead of ``old``: partial results may have been made from partial results, and so on."""
    new, replaced = [old], {id(old)}
    while len(new) == 1 and (earlier := _whole(new[0], replaced, contents, found, readers)) is not None:
        new = earlier
    return new


def _whole(
    old: Statement,
    replaced: set[int],
    contents: _Contents,
    found: list[Statement | None],
    readers: dict[Buffer, set[int]],
) -> list[Statement] | None:
    """What to do instead of ``old``, if that folds partial results; what made those is then gone from ``found``.

    ``replaced`` are the statements that ``old`` stands for, by identity; those that are gone join them.
    """
    if not isinstance(old, Fold) or len(old.outputs) != 1:
        return None
    buffers = {access.buffer for access in old.sources_of_values()}
    if len(buffers) != 1 or not buffers <= contents.partial.keys():
        return None
    partial = contents.partial[buffers.pop()]
    ours = partial.statements | replaced
    if any(not readers[buffer] <= ours | contents.early[buffer] for buffer in partial.buffers):
        return None
    total = with_sources(old, {} if partial.copied is None else {partial.buffers[-1]: partial.copied})
    assert isinstance(total, Fold), "a reduction of a copy is a reduction of its source"
    if len(total.sources_of_values()) != 1:
        return None
    needed = {access.buffer for fold in partial.folds for access in fold.sources_of_values()}
    between = [s for s in found[partial.positions[0] :] if s is not None]
    if any(dest.buffer in needed for statement in (*between, old) for dest in statement.dests()):
        return None
    new = united(partial.folds, total)
    if new is not None:
        replaced |= partial.statements
        for position in partial.positions:
            found[position] = None
    return new


def _note(statement: Statement, old: Statement, position: int, contents: _Contents) -> None:
    """Keep track of what ``statement``, which stands for ``old``, leaves in its results."""
    for source in statement.sources():
        if source.buffer in contents.filled:
            contents.early[source.buffer].add(id(old))
    dests = [dest.buffer for dest in statement.dests()]
    filled, partial = _filling(statement, contents), _partial(statement, old, position, contents)
    for buffer in dests:
        contents.forget(buffer)
    if filled is not None:
        contents.filled[dests[0]] = filled
    if partial is not None:
        contents.partial[dests[0]] = partial


def _filling(statement: Statement, contents: _Contents) -> Const | None:
    """The scalar that ``statement`` leaves in every element of its one result."""
    if not isinstance(statement, Elementwise) or len(statement.outputs) != 1:
        return None
    if digits_of_cover(statement.outputs[0], statement.extents) is None:
        return None
    source = statement.copied()
    if source is not None and source.buffer.dtype == statement.outputs[0].buffer.dtype:
        return contents.filled.get(source.buffer)
    return statement.filled()


def _partial(statement: Statement, old: Statement, position: int, contents: _Contents) -> _Partial | None:
    """The partial results that ``statement`` leaves in its one result: more of those there, new ones, or a copy."""
    fold = accumulating(statement, lambda buffer: buffer in contents.filled or buffer in contents.partial)
    if fold is not None:
        return _added(fold, old, position, contents)
    if not isinstance(statement, Elementwise) or len(statement.outputs) != 1:
        return None
    source, (out,) = statement.copied(), statement.outputs
    before = None if source is None else contents.partial.get(source.buffer)
    if before is None or out.buffer.dtype != before.buffers[0].dtype:
        return None
    copies = {} if before.copied is None else {before.buffers[-1]: before.copied}
    moved = with_sources(statement, copies)
    assert isinstance(moved, Elementwise), "a copy of a copy is a copy"
    through = moved.copied()
    if through is None or through.buffer is not before.buffers[0]:
        return None
    if digits_of_cover(moved.outputs[0], moved.extents) is None:
        return None
    positions, statements = (*before.positions, position), before.statements | {id(old)}
    return _Partial(before.folds, positions, statements, (*before.buffers, out.buffer), copied_by(moved, through))


def _added(fold: Fold, old: Statement, position: int, contents: _Contents) -> _Partial | None:
    folding, (init,), (out,) = folding_of(fold.values[0]), fold.inits, fold.outputs
    if folding is None or not isinstance(init, Read):
        return None
    before = contents.partial.get(init.access.buffer)
    if before is not None:
        if before.copied is not None or init.access.buffer is not out.buffer:
            return None
        positions, statements = (*before.positions, position), before.statements | {id(old)}
        return _Partial((*before.folds, fold), positions, statements, before.buffers)
    start = contents.filled.get(init.access.buffer)
    if start is None or not starts_neutral(folding, start):
        return None
    return _Partial((fold,), (position,), frozenset([id(old)]), (out.buffer,))
