"""Invariants of loops: computed once, before the loop, not in every round."""

from collections.abc import Sequence
from dataclasses import replace

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import Control, ForLoop, WhileLoop, all_statements
from ipu_mlir.runtime.translator.array_ir.statements import Dot, Elementwise, Program, Reduce, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_other_buffers


def hoisted(program: Program) -> Program:
    """Compute before a loop what every round computes alike."""
    homes: _Homes = {}
    moved = program.with_statements(_block(program.statements, (), homes))
    return with_other_buffers(moved, {buffer: replace(buffer, home=path) for buffer, path in homes.items()})


_Homes = dict[Buffer, tuple[int, ...]]
"""The blocks of buffers that outlive the rounds of a loop now."""


def _block(statements: Sequence[Statement], path: tuple[int, ...], homes: _Homes) -> list[Statement]:
    """The statements of the block at ``path``."""
    found: list[Statement] = []
    for statement in statements:
        if not isinstance(statement, Control):
            found.append(statement)
            continue
        blocks = [
            tuple(_block(block, (*path, number), homes))
            for number, block in zip(statement.ids, statement.blocks(), strict=True)
        ]
        if isinstance(statement, ForLoop | WhileLoop):
            found += _taken_out(blocks, _changed(statement.with_blocks(blocks)), path, homes)
        found.append(statement.with_blocks(blocks))
    return found


def _changed(loop: Control) -> set[Buffer]:
    """The buffers that something in ``loop`` writes."""
    return {dest.buffer for statement in all_statements([loop]) for dest in statement.dests()}


def _taken_out(
    blocks: list[tuple[Statement, ...]], changed: set[Buffer], path: tuple[int, ...], homes: _Homes
) -> list[Statement]:
    """The statements that need nothing of the loop; they are no longer in ``blocks``."""
    taken: list[Statement] = []
    for position, block in enumerate(blocks):
        left: list[Statement] = []
        for statement in block:
            if _is_alike(statement, changed):
                taken.append(statement)
                for dest in statement.dests():
                    homes[dest.buffer] = path
                    changed.discard(dest.buffer)
            else:
                left.append(statement)
        blocks[position] = tuple(left)
    return taken


def _is_alike(statement: Statement, changed: set[Buffer]) -> bool:
    """True if ``statement`` gives the same in every round and can fail in none."""
    if not isinstance(statement, Elementwise | Dot | Reduce):
        return False
    if any(dest.buffer.mutable or dest.buffer.role is not Role.TEMPORARY for dest in statement.dests()):
        return False
    return all(source.buffer not in changed for source in statement.sources())
