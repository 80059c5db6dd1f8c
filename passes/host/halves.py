"""Partial results and their combination, as the one reduction that they are halves of."""

from dataclasses import dataclass
from functools import cmp_to_key

from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, loads_in, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.placement.partition.split_reduction import plain_combiner
from ipu_mlir.passes.support.combiners import neutral
from ipu_mlir.passes.support.linalg_builders import bodiless_generic
from ipu_mlir.passes.support.reduction_marks import COMBINES, PARTIALS, marked_blocks, marks_of


@dataclass(frozen=True)
class Halves:
    """``partials`` add in turn to memory that ``fill`` has filled, and ``combination`` is all that reads it."""

    fill: ir.Operation
    partials: list[ir.Operation]
    combination: ir.Operation


def halves_of(combination: ir.Operation, writes: MemoryWrites) -> Halves | None:
    """The halves of which ``combination`` is the second; None if it cannot do the work of both where it stands.

    Needs true marks on all ops of the function.
    """
    memory = combination.operands[0]
    if defining_op(memory, "memref.alloc") is None:
        return None
    users = [use.owner.operation for use in memory.uses]
    fill = next((user for user in users if user.name == "linalg.fill"), None)
    partials = [user for user in users if PARTIALS in user.attributes]
    if fill is None or not partials or len(users) != len(partials) + 2:
        return None
    for partial in partials:
        if not fill.block == partial.block == combination.block:
            return None
        if partial.attributes[PARTIALS] != combination.attributes[COMBINES]:
            return None
        if not _start_together(fill, partial, combination):
            return None
        if not (fill.is_before_in_block(partial) and partial.is_before_in_block(combination)):
            return None
        if any(writes.between(value, partial, combination) for value in buffers_read(partial)):
            return None
    in_order = sorted(partials, key=cmp_to_key(lambda one, other: -1 if one.is_before_in_block(other) else 1))
    return Halves(fill, in_order, combination)


def buffers_read(op: ir.Operation) -> list[ir.Value]:
    """The buffers that a structured op with one result reads, besides that result."""
    values = [*list(op.operands)[:-1], *(load.operands[0] for load in loads_in(op))]
    return [value for value in values if isinstance(value.type, ir.MemRefType)]


def _start_together(fill: ir.Operation, partial: ir.Operation, combination: ir.Operation) -> bool:
    """True if the partial results start from what is neutral for the one combiner of both halves."""
    first, second = plain_combiner(partial), plain_combiner(combination)
    start = fill.operands[0].owner
    if first is None or first != second or isinstance(start, ir.Block):
        return False
    result = partial.operands[len(partial.operands) - 1]
    if start.name != "arith.constant" or fill.operands[1] != result:
        return False
    return start.operation.attributes["value"] == neutral(first, result.type.element_type)


def unite(halves: Halves, writes: MemoryWrites) -> list[ir.Operation]:
    """Put the whole reductions, one for each op that left partial results, where the second half stands."""
    combination = halves.combination
    memory, out = combination.operands
    whole = [_whole(partial, combination) for partial in halves.partials]
    writes.replace_writer(out, combination, whole)
    writes.forget(memory)
    for op in (combination, *halves.partials, halves.fill, memory.owner.operation):
        op.erase()
    return whole


def _whole(partial: ir.Operation, combination: ir.Operation) -> ir.Operation:
    """What ``partial`` leaves partial results of, added to the result of ``combination`` in front of it."""
    nest, maps, blocks = loop_nest(partial), indexing_maps(partial), marked_blocks(partial, PARTIALS)
    assert nest is not None and maps is not None and blocks is not None, "the marks are true"
    maps[-1] = ir.AffineMap.get(maps[-1].n_dims, 0, list(maps[-1].results)[len(blocks) :])
    reduced = {block.loop for block in blocks}
    parallel = [was and loop not in reduced for loop, was in enumerate(nest.parallel)]
    inputs, out = list(partial.operands)[:-1], combination.operands[1]
    with ir.InsertionPoint(combination), combination.location:
        whole = bodiless_generic(inputs, [out], maps, parallel, marks_of(partial, PARTIALS))
    partial.regions[0].blocks[0].append_to(whole.regions[0])
    return whole
