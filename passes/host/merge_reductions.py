"""``ipu-merge-reductions``: partial results and their combination, and the steps of a reduction, are one op again."""

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.host.halves import halves_of, unite
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.host.reduction_steps import join, joined_inputs
from ipu_mlir.passes.placement.partition.split_reduction import plain_combiner
from ipu_mlir.passes.support.reduction_marks import COMBINES, PARTIALS, STEP, marked_blocks, marked_step, marks_of
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies


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
        if (broken := _broken_mark(op)) is not None:
            refuse(op, broken)


def _united(marked: list[ir.Operation], writes: MemoryWrites) -> list[ir.Operation]:
    """The ops that are left of ``marked`` when all halves are united."""
    left: list[ir.Operation] = []
    for op in marked:
        halves = None if COMBINES not in op.attributes or PARTIALS in op.attributes else halves_of(op, writes)
        if halves is not None:
            left = [each for each in left if each not in halves.partials]
        left += [op] if halves is None else unite(halves, writes)
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


def _broken_mark(op: ir.Operation) -> str | None:
    """Why a mark on ``op`` is not true, as the end of a sentence; None if all are: programs come from anywhere.

    What else is said of an op that leaves partial results holds once these are combined, and is asked then.
    """
    nest = loop_nest(op)
    if nest is None or len(nest.outputs) != 1 or "library_call" in op.attributes:
        return f"is marked with {', '.join(marks_of(op))}, but is no reduction with one result; remove the mark"
    if PARTIALS in op.attributes:
        return _broken_partials(op, nest)
    if COMBINES in op.attributes and (broken := _broken_combination(op, nest)) is not None:
        return broken
    if STEP in op.attributes:
        step = marked_step(op)
        if step is None or not 0 <= step[0] < len(nest.extents) or nest.parallel[step[0]] or step[1] < 0:
            return f"has {STEP} = {op.attributes[STEP]}, which is no reduced loop and where it begins; remove the mark"
    return None


def _broken_partials(op: ir.Operation, nest: LoopNest) -> str | None:
    blocks = marked_blocks(op, PARTIALS)
    (indices,) = nest.outputs
    if blocks is None or len(blocks) > len(indices):
        return _no_blocks(op, PARTIALS)
    for dimension, (block, index) in enumerate(zip(blocks, indices, strict=False)):
        if (index.block_of or (index.plain_loop, 1)) != (block.loop, block.size):
            return (
                f"has {PARTIALS} = {op.attributes[PARTIALS]}, but dimension {dimension} of its result does not count "
                f"blocks of {block.size} iterations of loop {block.loop}; remove the mark"
            )
    loops = [block.loop for block in blocks] + [index.plain_loop for index in indices[len(blocks) :]]
    if None in loops or len(set(loops)) < len(loops) or plain_combiner(op) is None:
        return f"has {PARTIALS}, but its result is no reduction over these loops alone; remove the mark"
    return None


def _broken_combination(op: ir.Operation, nest: LoopNest) -> str | None:
    blocks = marked_blocks(op, COMBINES)
    if blocks is None:
        return _no_blocks(op, COMBINES)
    rank = len(nest.extents) - len(blocks)
    kept, combined = list(range(rank)), list(range(rank, len(nest.extents)))
    if (
        [[index.plain_loop for index in indices] for indices in nest.indices] != [[*combined, *kept], kept]
        or nest.parallel != (True,) * rank + (False,) * len(blocks)
        or [each.operation.name for each in op.regions[0].blocks[0].operations] != [plain_combiner(op), "linalg.yield"]
    ):
        return f"has {COMBINES}, but does more than combine the first dimensions of its operand; remove the mark"
    return None


def _no_blocks(op: ir.Operation, mark: str) -> str:
    return f"has {mark} = {op.attributes[mark]}, which is no loop and block for each dimension; remove the mark"
