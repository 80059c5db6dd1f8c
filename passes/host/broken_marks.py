"""Whether what the marks of a partition say of a reduction is true: programs come from anywhere."""

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.placement.partition.split_reduction import plain_combiner
from ipu_mlir.passes.support.reduction_marks import COMBINES, PARTIALS, STEP, marked_blocks, marked_step, marks_of


def broken_mark(op: ir.Operation) -> str | None:
    """Why a mark on ``op`` is not true, as the end of a sentence; None if all are.

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
        or plain_combiner(op) is None
        or len(op.regions[0].blocks[0].operations) != 2
    ):
        return f"has {COMBINES}, but does more than combine the first dimensions of its operand; remove the mark"
    return None


def _no_blocks(op: ir.Operation, mark: str) -> str:
    return f"has {mark} = {op.attributes[mark]}, which is no loop and block for each dimension; remove the mark"
