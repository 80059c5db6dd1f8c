"""``ipu-place-tensors``: every tensor type says where the tensor lies."""

from collections.abc import Iterable
from math import prod
from typing import Any

from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, flows, terminator
from ipu_mlir.dialects.analysis.index import plain_index
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.memory_access import MemoryAccess, memory_accesses
from ipu_mlir.dialects.analysis.operand_mapping import operand_mapping
from ipu_mlir.dialects.analysis.shards import LINKS, SHARD, TO_SHARD
from ipu_mlir.dialects.analysis.variables import assigned_arguments, variable_arguments, variable_results
from ipu_mlir.dialects.attributes.attributes import (
    MappingAttr,
    mapping_from_attr,
    mapping_to_attr,
    module_target,
    parts_from_attr,
)
from ipu_mlir.dialects.costs.exchange import crosses_ipus
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import linear
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.placement.partition.operations import uses_of
from ipu_mlir.passes.placement.planner.follow import parts_that_follow
from ipu_mlir.passes.placement.planner.shifts import box_around, shifted_groups
from ipu_mlir.passes.placement.preparation.overwritten_views import is_kept
from ipu_mlir.passes.support.constants import retype_constant
from ipu_mlir.passes.support.placement_hints import BLOCK_HOMES, HOMES, MADE_WITHOUT_LOOPS, MAP, PARTS
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies, replace_op
from ipu_mlir.passes.support.tensor_views import VIEW_OPS, view_of
from ipu_mlir.passes.support.value_attributes import set_function_type, set_value_attributes, value_attributes


class PlaceTensors(Pass):
    """Write into every tensor type where the tensor lies, and a cast wherever an op needs it elsewhere.

    Needs:  ``ipu.parts``, ``ipu.map``, ``ipu.homes`` and ``ipu.block_homes`` (``ipu-partition``).
    Leaves: a mapping as encoding of every tensor type; ``tensor.cast`` from mapping to mapping in front of every
            operand that does not lie where the op's parts read it, one cast for slices of one tensor that overlap but
            for an edge; arguments that bufferization must not write to,
            but for variables, whose new values are cast to where they lie; ``ipu.links`` on casts between IPUs;
            ``ipu.map`` on views of part of a tensor, which says where a copy of the part would lie.
    """

    name = "ipu-place-tensors"

    def run(self, module: ir.Operation) -> None:
        with Refusals() as refuse:
            for op in list_outside_bodies(module):
                if _has_home(op) and HOMES not in op.attributes:
                    refuse(op, f"has no {HOMES}: run ipu-partition first, which decides where its results are stored")
        with module.context, ir.Location.unknown():
            for function in list_ops(module, "func.func"):
                if len(function.regions[0].blocks):
                    _place_function(function)
            for view in list_ops(module, *VIEW_OPS):
                if _is_part(view):
                    view.attributes[MAP] = mapping_to_attr(_home_of_copy(view))
            target = module_target(module)
            for cast in list_ops(module, "tensor.cast") if target.ipus > 1 else ():
                if _crosses_ipus(cast, target):
                    cast.attributes[LINKS] = ir.UnitAttr.get()


def _crosses_ipus(cast: ir.Operation, target: Target) -> bool:
    source, result = cast.operands[0], cast.results[0].type
    found = view_of(source)
    if result.encoding is None or found is None:
        return False
    give, take = mapping_from_attr(source.type.encoding), mapping_from_attr(result.encoding)
    return crosses_ipus((give, found[1]), (take, View.whole(tuple(result.shape))), target)


def _is_part(view: ir.Operation) -> bool:
    """True if ``view`` shows part of a tensor that somebody may write to, so that bufferization may copy it."""
    result = view.results[0]
    found = view_of(result)
    if found is None or is_kept(view.operands[0]):  # of a view, even of what is kept, there may be a copy to write to
        return False
    return prod(found[0].type.shape) != prod(result.type.shape)


def _home_of_copy(view: ir.Operation) -> Mapping:
    """Every element where it lies already, if the cuts of the whole tensor are cuts of the part."""
    found = view_of(view.results[0])
    assert found is not None, "a part has evenly spaced elements"
    shape = tuple(view.results[0].type.shape)
    parts = parts_that_follow(
        mapping_from_attr(view.results[0].type.encoding), shape, found[1].strides, range(len(shape))
    )
    if parts is None:
        return linear(prod(shape), module_target(view).num_tiles)
    own = tuple(plain_index(dimension, len(shape)) for dimension in range(len(shape)))
    return operand_mapping(parts, own, shape, View.whole(shape).strides, 0, prod(shape)).normalized()


def _has_home(op: ir.Operation) -> bool:
    """True if ``ipu-partition`` writes into ``op`` where its results are stored."""
    is_tensor = any(isinstance(result.type, ir.RankedTensorType) for result in op.results)
    is_control = control_op(op) is not None or op.name == "func.call"
    return is_tensor and (is_structured(op) or is_control or op.name == "tensor.insert_slice")


def _place_function(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    entries = value_attributes(function, "arg_attrs")
    assigned = assigned_arguments(function)
    for argument, entry in zip(block.arguments, entries, strict=True):
        entry.pop(SHARD, None)
        mapping = entry.pop(MAP, None)
        if mapping is not None:
            _encode(argument, mapping)
            if argument.arg_number not in assigned:
                entry["bufferization.writable"] = ir.BoolAttr.get(False)
    set_value_attributes(function, "arg_attrs", entries)
    _place_block(block)
    _bring_variables(function, terminator(block))
    set_function_type(function)


def _bring_variables(function: ir.Operation, end: ir.Operation) -> None:
    """Cast new values of variables to where the variables lie."""
    places = {name: number for number, name in variable_arguments(function).items()}
    for number, name in variable_results(function).items():
        wanted = function.regions[0].blocks[0].arguments[places[name]].type
        if end.operands[number].type != wanted:
            end.operands[number] = _cast_before(end, end.operands[number], wanted)


def _place_block(block: ir.Block) -> None:
    for op in list(block.operations):
        _place_op(op.operation)


def _place_op(op: ir.Operation) -> None:
    if SHARD in op.attributes:
        del op.attributes[SHARD]
    if is_structured(op):
        _place_structured(op)
    elif op.name in VIEW_OPS:
        _encode(op.results[0], op.operands[0].type.encoding)
    elif op.name == "tensor.insert_slice":
        _encode_all(op.results, _taken(op, HOMES))
    elif op.name == "arith.constant" and MAP in op.attributes:
        _place_constant(op)
    elif (op.name == "tensor.empty" or op.name in MADE_WITHOUT_LOOPS) and MAP in op.attributes:
        _encode(op.results[0], op.attributes[MAP])
        del op.attributes[MAP]
    elif op.name == "ipu.place":
        _place_placed(op)
    elif op.name == TO_SHARD:
        _replace_by(op, _with_encoding(op.results[0].type, op.attributes[MAP]))
    elif control_op(op) is not None:
        _place_control(op)
    elif op.name == "func.call":
        _place_call(op)


def _place_control(op: ir.Operation) -> None:
    """Types for what ``op`` carries and gives, and casts for what comes from elsewhere."""
    _encode_all(op.results, _taken(op, HOMES))
    blocks = list(blocks_of(op))
    for block, homes in zip(blocks, _taken(op, BLOCK_HOMES) or [()] * len(blocks), strict=True):
        _encode_all(block.arguments, homes)
        _place_block(block)
    for flow in flows(op):
        for number, target in enumerate(flow.targets, start=flow.first):
            value = flow.source.operands[number]
            if value.type != target.type:
                flow.source.operands[number] = _cast_before(flow.source, value, target.type)


def _place_call(op: ir.Operation) -> None:
    """Place what a function takes where its block has it, and what it gives where it returns it."""
    _encode_all(op.results, _taken(op, HOMES))
    for homes in _taken(op, BLOCK_HOMES):
        for number, (value, home) in enumerate(zip(op.operands, homes, strict=True)):
            if isinstance(home, MappingAttr):
                op.operands[number] = _brought(value, mapping_from_attr(home), op)


def _taken(op: ir.Operation, name: str) -> Any:
    """The attribute of that name, taken away from ``op``; empty if there is none."""
    if name not in op.attributes:
        return ()
    attribute = op.attributes[name]
    del op.attributes[name]
    return attribute


def _encode_all(values: Iterable[ir.Value], homes: Iterable[ir.Attribute]) -> None:
    for value, home in zip(values, homes, strict=True):
        if isinstance(value.type, ir.RankedTensorType):
            _encode(value, home)


def _cast_before(op: ir.Operation, value: ir.Value, wanted: ir.Type) -> ir.Value:
    """``value`` as ``wanted``; cast before ``op`` unless another op of the block has it there already."""
    return _earlier_cast(value, wanted, op) or _cast(value, wanted, op)


def _place_structured(op: ir.Operation) -> None:
    nest = loop_nest(op)
    assert nest is not None, "ipu-partition refuses ops without known loops"
    accesses = memory_accesses(op, nest)
    _encode_all(op.results, _taken(op, HOMES))
    for result, access in zip(op.results, [x for x in accesses if x.written], strict=True):
        if access.value.type != result.type:
            access.replace_value(_cast_before(op, access.value, result.type))
    bring_operands(op)


def bring_operands(op: ir.Operation) -> None:
    """Cast the placed operands that structured op ``op`` reads to where its parts read them."""
    nest = loop_nest(op)
    assert nest is not None, "ipu-partition refuses ops without known loops"
    parts = parts_from_attr(op.attributes[PARTS])
    reads = [access for access in memory_accesses(op, nest) if not access.written]
    _bring_shifts(reads, parts, op)
    for access in reads:
        _bring_operand(access, parts, op)


def _bring_shifts(reads: list[MemoryAccess], parts: Parts, op: ir.Operation) -> None:
    """Cast a tensor once to where ``parts`` need it if they read it from several places on."""
    roots = [(view_of(access.value) or (access.value,))[0] for access in reads]
    homes = {root: mapping_from_attr(root.type.encoding) for root in roots}
    uses = uses_of(reads, homes)
    for group in shifted_groups(uses):
        box = box_around([uses[number] for number in group], parts)
        if box is None:
            continue
        whole = _brought(roots[group[0]], box, op)
        for number in group:
            reads[number].replace_value(_seen_in(whole, reads[number].value, roots[number], op))


def _seen_in(other: ir.Value, view: ir.Value, root: ir.Value, op: ir.Operation) -> ir.Value:
    """What ``view`` shows of ``root`` in ``other``, the same tensor in another place."""
    if view == root:
        return other
    inner = _seen_in(other, view.owner.operands[0], root, op)
    with ir.InsertionPoint(op):
        again = view.owner.operation.clone()
    again.operands[0] = inner
    _encode(again.results[0], inner.type.encoding)
    return again.results[0]


def _bring_operand(access: MemoryAccess, parts: Parts, op: ir.Operation) -> None:
    """Cast an operand to where the parts read it, unless it lies there already."""
    found = view_of(access.value)
    assert found is not None, "ipu-partition refuses views without evenly spaced elements"
    home = mapping_from_attr(access.value.type.encoding)
    if not home.contains(_needed(parts, access, found[1], home.elements)):
        needed = _needed(parts, access, View.whole(tuple(access.value.type.shape)))
        access.replace_value(_brought(access.value, needed, op))


def _needed(parts: Parts, access: MemoryAccess, view: View, elements: int | None = None) -> Mapping:
    if elements is None:
        elements = view.size
    return operand_mapping(parts, access.indices, view.shape, view.strides, view.offset, elements)


def _brought(value: ir.Value, mapping: Mapping, op: ir.Operation) -> ir.Value:
    """``value`` where ``mapping`` says; cast before ``op`` unless another op of the block has it there already."""
    wanted = _with_encoding(value.type, mapping_to_attr(mapping))
    if value.type == wanted:
        return value
    return _cast_before(op, value, wanted)


def _cast(value: ir.Value, wanted: ir.Type, op: ir.Operation) -> ir.Value:
    with ir.InsertionPoint(op), op.location:
        return upstream("tensor").CastOp(wanted, value).result


def _earlier_cast(value: ir.Value, wanted: ir.Type, op: ir.Operation) -> ir.Value | None:
    """The value as another reader in this block already has it in that place."""
    for use in value.uses:
        owner = use.owner.operation
        if owner.name == "tensor.cast" and owner.results[0].type == wanted and owner.block == op.block:
            return owner.results[0]
    return None


def _place_placed(op: ir.Operation) -> None:
    """``ipu.place`` becomes a cast, or nothing where the value lies there already."""
    mapping = mapping_from_attr(op.attributes["mapping"])
    _replace_by(op, _with_encoding(op.operands[0].type, mapping_to_attr(mapping.normalized())))


def _replace_by(op: ir.Operation, wanted: ir.Type) -> None:
    """Replace ``op``, which gives its operand in another place, by a cast, if that place is another one."""
    source = op.operands[0]
    if source.type != wanted:
        source = _cast(source, wanted, op)
    replace_op(op, [source])


def _place_constant(op: ir.Operation) -> None:
    retype_constant(op, _with_encoding(op.results[0].type, op.attributes[MAP]))
    del op.attributes[MAP]


def _with_encoding(tensor: Any, encoding: ir.Attribute) -> ir.Type:
    return ir.RankedTensorType.get(tensor.shape, tensor.element_type, encoding)


def _encode(value: ir.Value, encoding: ir.Attribute) -> None:
    value.set_type(_with_encoding(value.type, encoding))
