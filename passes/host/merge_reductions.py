"""``ipu-merge-reductions``: partial results and their combination, and the steps of a reduction, are one op again."""

from dataclasses import dataclass

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.host.broken_marks import broken_mark
from ipu_mlir.passes.host.halves import halves_of, unite
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.host.steps import join, joined_inputs
from ipu_mlir.passes.support.reduction_marks import COMBINES, PARTIALS, STEP, marks_of
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies


@dataclass(frozen=True)
class MergeReductions(Pass):
    """Undo how ``ipu-partition`` cut reductions, where nothing can tell the difference.

    What a mark says of the op that carries it is checked, and refused if it is not so. Ops stay apart where others use
    what they leave in between, or write to what they read.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``), copies forwarded (``ipu-forward-copies``).
    Leaves: no partial results that only their combination reads, no steps of one reduction in a row; no mark.
    """

    name = "ipu-merge-reductions"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            for function in list_ops(module, "func.func"):
                marked = [op for op in list_outside_bodies(function) if op.name == "linalg.generic" and marks_of(op)]
                _check(marked, refuse)
                writes = MemoryWrites(function) if marked and not refuse.diagnostics else None
                while writes is not None:
                    left = _joined(_united(marked, writes), writes)
                    _check(left, refuse)  # a half that is whole again may be a half of another
                    if len(left) == len(marked) or refuse.diagnostics:
                        break
                    marked = left
                for op in marked:
                    for mark in marks_of(op):
                        del op.attributes[mark]


def _check(marked: list[ir.Operation], refuse: Refusals) -> None:
    for op in marked:
        if (broken := broken_mark(op)) is not None:
            refuse(op, broken)


def _united(marked: list[ir.Operation], writes: MemoryWrites) -> list[ir.Operation]:
    """The ops that are left of ``marked`` when all halves are united."""
    left: list[ir.Operation] = []
    for op in marked:
        halves = None if COMBINES not in op.attributes or PARTIALS in op.attributes else halves_of(op, writes)
        if halves is not None:
            left.remove(halves.partial)
            op = unite(halves, writes)
        left.append(op)
    return left


def _joined(marked: list[ir.Operation], writes: MemoryWrites) -> list[ir.Operation]:
    """The ops that are left of ``marked`` when all steps are joined."""
    left: list[ir.Operation] = []
    last: dict[ir.Value, ir.Operation] = {}
    for op in marked:
        if STEP in op.attributes and PARTIALS not in op.attributes:
            out = op.operands[len(op.operands) - 1]
            inputs = joined_inputs(last[out], op, writes) if out in last else None
            if inputs is not None:
                left.remove(last[out])
                op = join(last[out], op, inputs, writes)
            last[out] = op
        left.append(op)
    return left
