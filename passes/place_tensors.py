"""``ipu-place-tensors``: every tensor type says where the tensor lies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from ipu_mlir.dialects.attributes import mapping_from_attr, mapping_to_attr, parts_from_attr
from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.dialects.loop_nest import LoopNest, is_structured, loop_nest, reads_operand
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.operand_mapping import operand_mapping
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.placement_hints import MAP, PARTS
from ipu_mlir.passes.rewriting import list_ops
from ipu_mlir.passes.tensor_views import VIEW_OPS, Window, row_major, window_of


@dataclass(frozen=True)
class PlaceTensors(Pass):
    """Write into every tensor type where the tensor lies, and a cast wherever an op needs it elsewhere.

    Needs:  ``ipu.parts`` and ``ipu.map`` (``ipu-partition``).
    Leaves: a mapping as encoding of every tensor type; ``tensor.cast`` from mapping to mapping in front of every
            operand that does not lie where the op's parts read it; arguments that bufferization must not write to.
    """

    name = "ipu-place-tensors"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown():
            for function in list_ops(module, "func.func"):
                if len(function.regions[0].blocks):
                    _place_function(function)


def _place_function(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    attributes = []
    for argument, entries in zip(block.arguments, function.attributes["arg_attrs"], strict=True):
        kept = {entry.name: entry.attr for entry in entries if entry.name != MAP}
        if MAP in entries:
            _encode(argument, entries[MAP])
            kept["bufferization.writable"] = ir.BoolAttr.get(False)
        attributes.append(ir.DictAttr.get(kept))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    for op in list(block.operations):
        _place_op(op.operation)
    results = [value.type for value in block.operations[len(block.operations) - 1].operands]
    arguments = [argument.type for argument in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(arguments, results))


def _place_op(op: ir.Operation) -> None:
    if is_structured(op):
        _place_structured(op)
    elif op.name in VIEW_OPS:
        _encode(op.results[0], op.operands[0].type.encoding)
    elif op.name == "tensor.insert_slice":
        _encode(op.results[0], op.operands[1].type.encoding)
    elif op.name == "arith.constant" and MAP in op.attributes:
        _place_constant(op)
    elif op.name == "tensor.empty" and MAP in op.attributes:
        _encode(op.results[0], op.attributes[MAP])
        del op.attributes[MAP]
    elif op.name == "ipu.place":
        _place_placed(op)


def _place_structured(op: ir.Operation) -> None:
    nest = loop_nest(op)
    assert nest is not None, "ipu-partition refuses ops without known loops"
    parts = parts_from_attr(op.attributes[PARTS])
    inits = list(op.operands)[nest.num_inputs :]
    for number, (result, init) in enumerate(zip(op.results, inits, strict=True)):
        home = _needed(parts, nest, nest.num_inputs + number, row_major(result.type.shape))
        encoding = mapping_to_attr(home)
        if not isinstance(init.owner, ir.Block) and init.owner.name == "tensor.empty" and init.type.encoding is None:
            _encode(init, encoding)
        _cast_operand(op, nest.num_inputs + number, home)
        _encode(result, encoding)
    for number in range(nest.num_inputs):
        _bring_operand(op, number, nest, parts)


def _bring_operand(op: ir.Operation, number: int, nest: LoopNest, parts: Parts) -> None:
    """Cast an operand to where the parts read it, unless it lies there already."""
    value = op.operands[number]
    if not isinstance(value.type, ir.RankedTensorType) or not reads_operand(op, number):
        return
    found = window_of(value)
    assert found is not None, "ipu-partition refuses views without evenly spaced elements"
    home = mapping_from_attr(value.type.encoding)
    if not home.contains(_needed(parts, nest, number, found[1], home.elements)):
        _cast_operand(op, number, _needed(parts, nest, number, row_major(value.type.shape)))


def _needed(parts: Parts, nest: LoopNest, number: int, window: Window, elements: int | None = None) -> Mapping:
    if elements is None:
        elements = int(np.prod(window.shape, dtype=np.int64))
    return operand_mapping(parts, nest.indices[number], window.shape, window.strides, window.offset, elements)


def _cast_operand(op: ir.Operation, number: int, mapping: Mapping) -> None:
    value = op.operands[number]
    wanted = _with_encoding(value.type, mapping_to_attr(mapping))
    if value.type != wanted:
        op.operands[number] = _earlier_cast(value, wanted, op) or _cast(value, wanted, op)


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
    source, placed = op.operands[0], op.results[0]
    wanted = _with_encoding(source.type, mapping_to_attr(mapping_from_attr(op.attributes["mapping"]).normalized()))
    if source.type != wanted:
        source = _cast(source, wanted, op)
    placed.replace_all_uses_with(source)
    op.erase()


def _place_constant(op: ir.Operation) -> None:
    value = op.attributes["value"]
    placed = _with_encoding(op.results[0].type, op.attributes[MAP])
    if value.is_splat:
        new = ir.DenseElementsAttr.get_splat(placed, value.get_splat_value())
    else:
        new = ir.DenseElementsAttr.get(np.asarray(value), type=placed)
    op.attributes["value"] = new
    op.results[0].set_type(placed)
    del op.attributes[MAP]


def _with_encoding(tensor: Any, encoding: ir.Attribute) -> ir.Type:
    return ir.RankedTensorType.get(tensor.shape, tensor.element_type, encoding)


def _encode(value: ir.Value, encoding: ir.Attribute) -> None:
    value.set_type(_with_encoding(value.type, encoding))
