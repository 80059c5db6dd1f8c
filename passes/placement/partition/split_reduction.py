"""Split a reduction: partial results per block of the reduced loops, and the op that combines them."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps, loop_nest
from ipu_mlir.dialects.analysis.matchers import has_one_use, terminator
from ipu_mlir.dialects.analysis.recurrent_cells import family_mark
from ipu_mlir.dialects.attributes.attributes import parts_to_attr
from ipu_mlir.dialects.costs.op_loops import accumulator, combination
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.combiners import neutral
from ipu_mlir.passes.support.linalg_builders import bodiless_generic, combined, fill_with
from ipu_mlir.passes.support.placement_hints import PARTS
from ipu_mlir.passes.support.reduction_marks import COMBINES, PARTIALS, Block, blocks_mark, marks_of
from ipu_mlir.passes.support.rewriting import replace_op

_ADDED = {"arith.subf": "arith.addf", "arith.subi": "arith.addi"}


def can_split(op: ir.Operation, nest: LoopNest) -> bool:
    """True if the reduced loops of ``op`` may be cut: one result, one combiner, and that has a neutral element."""
    if len(nest.outputs) != 1 or "library_call" in op.attributes or not len(op.regions):
        return False
    if all(nest.parallel) or any(index.plain_loop is None for index in nest.outputs[0]):
        return False
    return plain_combiner(op) is not None


def plain_combiner(op: ir.Operation) -> str | None:
    """The operation that joins partial results of ``op``, if joining elements is all that is done to its only result.

    It has a neutral element. What subtracts elements from its result has partial results that are added.
    """
    combiner = combination(op)
    if combiner is None or accumulator(op) not in list(combiner.operands):
        return None
    yielded = terminator(op.regions[0].blocks[0]).operands[0]
    if yielded != combiner.results[0] or not has_one_use(accumulator(op)):
        return None
    joins = combiner.name
    if joins in _ADDED and combiner.operands[0] == accumulator(op):
        joins = _ADDED[joins]
    return joins if neutral(joins, accumulator(op).type) is not None else None


def cut_reductions(nest: LoopNest, parts: Parts) -> tuple[int, ...]:
    """The loops that ``parts`` cut although one part has to run them."""
    pairs = zip(nest.cut_multiples, parts.loops, strict=True)
    return tuple(loop for loop, (multiple, part) in enumerate(pairs) if not multiple and part.block < part.extent)


def split_reduction(op: ir.Operation, nest: LoopNest, parts: Parts) -> tuple[ir.Operation, ir.Operation]:
    """Replace ``op`` by two: partial results per block of the loops that ``parts`` cut, and their combination.

    The loops stay, so that ``parts`` hold for the partial results; of these there is one per block, in leading
    dimensions: ``(m, n, k) -> (k floordiv 32, m, n)``. A loop in blocks of one iteration is no longer reduced. The
    combination starts from what ``op`` started from. Both are marked with the loops and their blocks.

    Returns:
        the op of the partial results, with ``ipu.parts`` and the marks of ``op``, and the one that combines them.
    """
    cut = cut_reductions(nest, parts)
    result = op.results[0].type
    maps = indexing_maps(op)
    combiner = plain_combiner(op)
    assert maps is not None and combiner is not None and cut, "split_reduction of an op that can_split refuses"
    blocks = [parts.loops[loop].block for loop in cut]
    counts = [-(-nest.extents[loop] // block) for loop, block in zip(cut, blocks, strict=True)]
    nothing = neutral(combiner, result.element_type)
    with ir.InsertionPoint(op), op.location:
        value = upstream("arith").ConstantOp(result.element_type, nothing).result
        empty = upstream("tensor").EmptyOp([*counts, *result.shape], result.element_type).result
        partials = fill_with(value, empty).results[0]
        kept = [_block_number(loop, block) for loop, block in zip(cut, blocks, strict=True)]
        maps[-1] = ir.AffineMap.get(maps[-1].n_dims, 0, [*kept, *maps[-1].results])
        parallel = [was or dict(zip(cut, blocks, strict=True)).get(loop) == 1 for loop, was in enumerate(nest.parallel)]
        partial = bodiless_generic(list(op.operands)[: nest.num_inputs], [partials], maps, parallel)
        mark = blocks_mark([Block(loop, block) for loop, block in zip(cut, blocks, strict=True)])
        family = family_mark(op)
        for name, attribute in {**marks_of(op), **family, PARTS: parts_to_attr(parts), PARTIALS: mark}.items():
            partial.attributes[name] = attribute
        joined = combined(partial.results[0], op.operands[nest.num_inputs], len(cut), combiner)
        for name, attribute in {**family, COMBINES: mark}.items():
            joined.attributes[name] = attribute
    op.regions[0].blocks[0].append_to(partial.regions[0])
    replace_op(op, [joined.results[0]])
    return partial, joined


def split_steps(steps: Sequence[ir.Operation], parts: Sequence[Parts]) -> list[ir.Operation]:
    """Split each of ``steps``, which add to one result in turn, by its own of ``parts``; only the last one combines.

    The partial results of a step are what the next one starts from, where it has as many.

    Returns:
        what the steps have become, in order.
    """
    made: list[ir.Operation] = []
    for step, own in zip(steps, parts, strict=True):
        nest = loop_nest(step)
        assert nest is not None, "a step has the loops of the op that it is a step of"
        partial, joined = split_reduction(step, nest, own)
        if made and made[-2].results[0].type == partial.results[0].type:
            before, joined_before = made[-2:]
            fill = partial.operands[nest.num_inputs].owner.operation
            partial.operands[nest.num_inputs] = before.results[0]
            joined.operands[1] = joined_before.operands[1]
            for op in (fill, joined_before):
                op.erase()
            made.pop()
        made += [partial, joined]
    return made


def _block_number(loop: int, block: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_floor_div(ir.AffineExpr.get_dim(loop), ir.AffineExpr.get_constant(block))
