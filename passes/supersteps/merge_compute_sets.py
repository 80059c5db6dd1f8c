"""``ipu-merge-compute-sets``: independent families run in one superstep."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.analysis.buffers import roots_of
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.ipu import ComputeSetOp
from ipu_mlir.dialects.ops.compute_set import families_of
from ipu_mlir.dialects.ops.vertices import is_idle
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops

_Thing = ir.Value | tuple[str, ir.Value]
"""The contents of an allocation, or a value that has been made."""


class MergeComputeSets(Pass):
    """Let families of vertices that do not depend on each other share a compute set.

    A compute set joins the one before it if nothing that it needs depends on that one; the allocations, views and
    exchanges that it needs move up with it. One synchronisation is saved for each that joins. Families without an op,
    which simplification leaves of copies of a buffer to itself, are dropped.

    Needs:  supersteps (``ipu-form-supersteps``).
    Leaves: no two neighbouring compute sets that could be one, and no family that does nothing.
    """

    name = "ipu-merge-compute-sets"

    def run(self, module: ir.Operation) -> None:
        for op in list_ops(module):
            if not op.name.startswith(("ipu.", "linalg.")):
                for region in op.regions:
                    for block in region.blocks:
                        _merge_block(block)


@dataclass
class _Group:
    """A compute set and what it touches; ``between`` are the ops after it, with what they touch."""

    op: ComputeSetOp
    reads: set[_Thing]
    writes: set[_Thing]
    between: list[tuple[Any, set[_Thing], set[_Thing]]]


def _merge_block(block: ir.Block) -> None:
    group: _Group | None = None
    for op in list(block.operations):
        if isinstance(op, ComputeSetOp):
            if _drop_idle(op):
                continue
            reads, writes = _touched(op)
            if group is not None and _joins(group, op, reads, writes):
                group.reads |= reads
                group.writes |= writes
            else:
                group = _Group(op, reads, writes, [])
            continue
        effects = effects_of(op)
        if effects is None or not effects.is_free_to_move:
            group = None
        elif group is not None:
            group.between.append((op, *_touched(op)))


def _drop_idle(op: ComputeSetOp) -> bool:
    """Erase families that run nothing; True if that was all of the compute set, which goes with them."""
    for family in filter(is_idle, families_of(op)):
        family.operation.erase()
    if families_of(op):
        return False
    op.operation.erase()
    return True


def _joins(group: _Group, op: ComputeSetOp, reads: set[_Thing], writes: set[_Thing]) -> bool:
    """Move the families of ``op`` into ``group``, if they do not depend on it; what they need moves before it."""
    if _depends(reads, writes, group.reads, group.writes):
        return False
    moving: list[Any] = []
    left_reads, left_writes = set(group.reads), set(group.writes)
    for other, other_reads, other_writes in group.between:
        if _depends(other_reads, other_writes, left_reads, left_writes):
            left_reads |= other_reads
            left_writes |= other_writes
        else:
            moving.append(other)
    if _depends(reads, writes, left_reads, left_writes):
        return False
    for other in moving:
        other.operation.move_before(group.op.operation)
    group.between = [entry for entry in group.between if entry[0] not in moving]
    target = group.op.body.blocks[0]
    for family in list(op.body.blocks[0].operations):
        last = list(target.operations)[-1]
        family.operation.move_after(last.operation)
    op.operation.erase()
    return True


def _depends(reads: set[_Thing], writes: set[_Thing], earlier_reads: set[_Thing], earlier_writes: set[_Thing]) -> bool:
    """True if an op must stay after earlier ones."""
    return bool(reads & earlier_writes or writes & earlier_writes or writes & earlier_reads)


def _touched(op: Any) -> tuple[set[_Thing], set[_Thing]]:
    """The things that ``op`` needs and that it changes: contents of allocations, and values that are to be made."""
    effects = effects_of(op)
    assert effects is not None, "ops whose effects are not known are not moved, and nothing moves past them"
    operands = (value for each in list_ops(op.operation) for value in each.operands)
    reads, writes = _names(operands), _names(op.operation.results)
    for value, is_written in effects.touches(op):
        (writes if is_written else reads).update(roots_of(value))
    return reads, writes


def _names(values: Iterable[ir.Value]) -> set[_Thing]:
    """``values`` as such, whatever their memory holds: an operand that no body reads has to be made before, no more."""
    return {("name", value) for value in values}
