"""Reductions that run in steps are one reduction again.

What does not fit on the tiles at once is reduced block by block, and each step goes on from what the last one left.
Steps that differ only in where they read are one loop.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ipu_mlir.runtime.translator.array_ir.access import Buffer
from ipu_mlir.runtime.translator.array_ir.control import Control, all_statements, in_blocks
from ipu_mlir.runtime.translator.array_ir.expression import Read
from ipu_mlir.runtime.translator.array_ir.statements import Fold, Program, Statement
from ipu_mlir.runtime.translator.optimize.reductions.joined_loops import joined


def without_stepped_reductions(program: Program) -> Program:
    """Merge reductions that run block by block into one ``Fold``. Needs copies to be gone."""
    readers: dict[Buffer, set[int]] = defaultdict(set)
    for statement in all_statements(program.statements):
        accesses = statement.read_directly() if isinstance(statement, Control) else statement.sources()
        for access in accesses:
            readers[access.buffer].add(id(statement))
    for buffer in program.read_afterwards():
        readers[buffer].add(0)
    return program.with_statements(_block(program.statements, readers))


def _block(statements: Sequence[Statement], readers: dict[Buffer, set[int]]) -> list[Statement]:
    found: list[Statement | None] = []
    steps: dict[Buffer, int] = {}  # where what a buffer holds was folded
    for old in statements:
        statement = in_blocks(old, lambda inner: _block(inner, readers))
        if isinstance(old, Fold) and len(old.outputs) == 1:
            (init,) = old.inits
            position = steps.get(init.access.buffer) if isinstance(init, Read) else None
            if isinstance(init, Read) and position is not None and readers[init.access.buffer] == {id(old)}:
                both = _both(found[position], old, found[position + 1 :])
                if both is not None:
                    found[position], statement = None, both
            if not old.outputs[0].buffer.mutable:
                steps[old.outputs[0].buffer] = len(found)
        found.append(statement)
    return [statement for statement in found if statement is not None]


def _both(first: Statement | None, second: Fold, between: Sequence[Statement | None]) -> Fold | None:
    """``first``, which folds into what ``second`` goes on from, and ``second`` as one, at the place of ``second``."""
    assert isinstance(first, Fold), "the buffer was folded there"
    (out,), (init,) = second.outputs, second.inits
    if not isinstance(init, Read) or replace(init.access, buffer=out.buffer) != out:
        return None
    needed = {access.buffer for access in first.sources()}
    if any(dest.buffer in needed for s in (*between, second) if s is not None for dest in s.dests()):
        return None
    if replace(first.outputs[0], buffer=out.buffer) != out:
        return None
    return joined(replace(first, outputs=second.outputs), replace(second, inits=first.inits))
