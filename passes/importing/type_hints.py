"""Mappings that the tensor types of a program carry already, as hints on its values.

Passes that run before placing ignore encodings, drop them or break on them.
"""

from typing import Any

from ipu_mlir.dialects.analysis.control_flow import CONTROL_OPS
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Refusals
from ipu_mlir.passes.support.constants import retype_constant
from ipu_mlir.passes.support.placement_hints import MAP, place_memory, place_value
from ipu_mlir.passes.support.rewriting import list_outside_bodies
from ipu_mlir.passes.support.tensor_views import VIEW_OPS

# Their results lie where an operand lies, or where what leaves a block lies.
_FOLLOWING = VIEW_OPS | CONTROL_OPS.keys() | {"tensor.insert_slice"}


def anchor_types(function: ir.Operation, refuse: Refusals) -> None:
    """Take the mappings out of all types of ``function``: values that had one are placed there, arguments get hints."""
    found: list[tuple[ir.OpResult, ir.Attribute]] = []
    for op in list_outside_bodies(function):
        for region in () if is_structured(op) else op.regions:
            for block in region.blocks:
                _anchor_arguments(op, block, refuse)
        for result in op.results:
            mapping = _mapping_in(result.type)
            if mapping is not None:
                _set_type(op, result)
                found.append((result, mapping))
    kind = function.attributes["function_type"].value
    inputs, results = ([_without_mapping(each) for each in types] for types in (kind.inputs, kind.results))
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
    for result, mapping in found:
        op = result.owner.operation
        if op.name in ("arith.constant", "tensor.empty"):
            place_memory(op, mapping)
        elif op.name not in _FOLLOWING:
            place_value(result, mapping)


def _anchor_arguments(op: ir.Operation, block: ir.Block, refuse: Refusals) -> None:
    """Arguments of a function get a hint; what a loop carries lies where its initial value lies."""
    hints: dict[int, ir.Attribute] = {}
    for argument in block.arguments:
        mapping = _mapping_in(argument.type)
        if mapping is not None:
            argument.set_type(_without_mapping(argument.type))
            hints[argument.arg_number] = mapping
    if op.name == "func.func" and hints:
        old = list(op.attributes["arg_attrs"]) if "arg_attrs" in op.attributes else [()] * len(block.arguments)
        for number, mapping in hints.items():
            entries = {entry.name: entry.attr for entry in old[number]}
            if entries.setdefault(MAP, mapping) != mapping:
                refuse(op, f"has argument {number} with one mapping as ipu.map and another in its type; remove one")
            old[number] = ir.DictAttr.get(entries)
        op.attributes["arg_attrs"] = ir.ArrayAttr.get([each or ir.DictAttr.get({}) for each in old])


def _mapping_in(kind: Any) -> ir.Attribute | None:
    encoding = kind.encoding if isinstance(kind, ir.RankedTensorType) else None
    return encoding if encoding is not None and str(encoding).startswith("#ipu.mapping<") else None


def _without_mapping(kind: Any) -> Any:
    return kind if _mapping_in(kind) is None else ir.RankedTensorType.get(kind.shape, kind.element_type)


def _set_type(op: ir.Operation, result: ir.OpResult) -> None:
    if op.name == "arith.constant":
        retype_constant(op, _without_mapping(result.type))
    else:
        result.set_type(_without_mapping(result.type))
