"""Results of one op that need nothing of each other, as results of several ops."""

from functools import partial

from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, loop_nest
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.normalize.indices.maps import ResultMaps
from ipu_mlir.passes.support.clone import Known, clone_into, clone_slice, operands_from_outside
from ipu_mlir.passes.support.linalg_builders import generic, with_extents


def split_results(op: ir.Operation, maps: ResultMaps) -> list[ir.Operation]:
    """Replace ``op`` by one op per group of results that read each other's elements, or lie over the same loops."""
    groups = _groups(op, maps)
    if len(groups) == 1:
        return [op]
    block, nest, indexing = op.regions[0].blocks[0], loop_nest(op), indexing_maps(op)
    assert nest is not None and indexing is not None, "asked before"
    inputs = nest.num_inputs
    made = []
    for group in groups:
        output_maps = [indexing[inputs + result] for result in group]
        with ir.InsertionPoint(op), op.location:
            operands, input_maps = with_extents(
                list(op.operands)[:inputs], indexing[:inputs], output_maps, nest.extents
            )
            new = generic(
                operands,
                [op.operands[inputs + result] for result in group],
                [*input_maps, *output_maps],
                nest.parallel,
                partial(_body_of, block, inputs, group, is_first=not made),
            )
        made.append(new)
        for result, replacement in zip(group, new.results, strict=True):
            op.results[result].replace_all_uses_with(replacement)
    op.erase()
    return made


def _body_of(
    block: ir.Block, inputs: int, group: list[int], arguments: list[ir.Value], is_first: bool
) -> list[ir.Value]:
    """The values of ``group``, from copies of its ops in ``block``; ops without results go where what they read is."""
    old = list(block.arguments)
    known: Known = dict(zip(old[:inputs], arguments, strict=False))
    known.update(zip((old[inputs + result] for result in group), arguments[-len(group) :], strict=True))
    *inner, terminator = (each.operation for each in block.operations)
    for each in inner:
        if len(each.results):
            continue
        read = _read_results(block, inputs, operands_from_outside(each))
        if (read and read <= {*group}) or (not read and is_first):
            for operand in operands_from_outside(each):
                clone_slice(operand, known, partial(_is_in, block))
            clone_into(each, known)
    return [clone_slice(terminator.operands[result], known, partial(_is_in, block)) for result in group]


def _groups(op: ir.Operation, maps: ResultMaps) -> list[list[int]]:
    block = op.regions[0].blocks[0]
    count = len(op.results)
    first = len(block.arguments) - count
    *inner, terminator = (each.operation for each in block.operations)
    together = [{result} | _read_results(block, first, [terminator.operands[result]]) for result in range(count)]
    together += [_read_results(block, first, operands_from_outside(each)) for each in inner if not len(each.results)]
    easy = [all(maps.is_one_to_one(r, *each) for each in maps.meeting(r, frozenset())) for r in range(count)]
    for result in range(count):
        alone = together[result] == {result}
        same = [r for r in range(count) if maps.loops_of(r) == maps.loops_of(result) and together[r] == {r} and easy[r]]
        if alone and easy[result]:
            together.append({*same})
    groups: list[set[int]] = []
    for each in together:
        joined = [group for group in groups if group & each]
        groups = [group for group in groups if not group & each]
        if each:
            groups.append(each.union(*joined))
    return sorted(map(sorted, groups))


def _read_results(block: ir.Block, first: int, values: list[ir.Value]) -> set[int]:
    """The results whose elements ``values`` are computed from."""
    found: set[int] = set()
    seen: set[ir.Value] = set()
    while values:
        value = values.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value.owner, ir.Block):
            if value.owner == block and ir.BlockArgument(value).arg_number >= first:
                found.add(ir.BlockArgument(value).arg_number - first)
        elif _is_in(block, value):
            values += operands_from_outside(value.owner.operation)
    return found


def _is_in(block: ir.Block, value: ir.Value) -> bool:
    return value.owner.operation.block == block
