"""``ipu-anchor-hints``: placement hints on ops and in types, kept through fusion."""

from typing import Any

from ipu_mlir.dialects.analysis.control_flow import CONTROL_OPS
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.operand_mapping import operand_mapping
from ipu_mlir.dialects.analysis.variables import VARIABLE
from ipu_mlir.dialects.attributes.attributes import mapping_to_attr, parts_from_attr
from ipu_mlir.dialects.mapping.part_rules import broken_part_rule
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.constants import retype_constant
from ipu_mlir.passes.support.malformed import refuse_malformed
from ipu_mlir.passes.support.placement_hints import MAP, PARTS, place_memory, place_value
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies
from ipu_mlir.passes.support.tensor_views import VIEW_OPS
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes


class AnchorHints(Pass):
    """Turn ``ipu.parts`` and ``ipu.map`` on ops, and mappings in types, into ``ipu.place`` of values.

    Fusion makes new ops without the attributes of the old ones; it does not look through ``ipu.place``. Parts and the
    mapping of a result follow from each other.

    Needs:  linalg on tensors.
    Leaves: ``ipu.place`` on the first result of every op that had ``ipu.parts``, on what had ``ipu.map`` or a mapping
            in its type; ``ipu.map`` on arguments and variables only; no mapping in a type.
    """

    name = "ipu-anchor-hints"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            refuse_malformed(module, refuse)
            if refuse.diagnostics:
                return
            for function in list_ops(module, "func.func"):
                _anchor_types(function, refuse)
            for op in list_outside_bodies(module):
                broken = _anchor_parts(op) if PARTS in op.attributes else None
                broken = broken or (_anchor_map(op) if MAP in op.attributes and op.name != VARIABLE else None)
                if broken is not None:
                    refuse(op, broken)


def _anchor_parts(op: ir.Operation) -> str | None:
    """Place the first result of ``op`` where its parts put it; answers what is wrong with the parts, if anything."""
    if not is_structured(op):
        return "has ipu.parts, but no loops to cut; they belong on a linalg op"
    nest = loop_nest(op)
    if nest is None:
        return "has ipu.parts, but loops whose extents are not known"
    parts = parts_from_attr(op.attributes[PARTS])
    broken = broken_part_rule(parts, nest.extents, nest.cut_multiples)
    if broken is not None:
        return broken
    result = op.results[0]
    view = View.whole(tuple(result.type.shape))
    home = operand_mapping(parts, nest.outputs[0], view.shape, view.strides, 0, view.size)
    place_value(result, mapping_to_attr(home))
    del op.attributes[PARTS]
    return None


def _anchor_map(op: ir.Operation) -> str | None:
    """Place what ``op`` makes where its ``ipu.map`` says; answers why not, if it is no such op."""
    if op.name not in ("arith.constant", "tensor.empty"):
        return "has ipu.map, which is for arguments, constants and empty tensors; place another value with ipu.place"
    mapping = op.attributes[MAP]
    del op.attributes[MAP]
    place_memory(op, mapping)
    return None


# Their results lie where an operand lies, or where what leaves a block lies.
_FOLLOWING = VIEW_OPS | CONTROL_OPS.keys() | {"tensor.insert_slice"}


def _anchor_types(function: ir.Operation, refuse: Refusals) -> None:
    """Take the mappings out of all types of ``function``: values that had one are placed there, arguments get hints.

    Passes that run before placing ignore encodings, drop them or break on them.
    """
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
        entries = value_attributes(op, "arg_attrs")
        for number, mapping in hints.items():
            if entries[number].setdefault(MAP, mapping) != mapping:
                refuse(op, f"has argument {number} with one mapping as ipu.map and another in its type; remove one")
        set_value_attributes(op, "arg_attrs", entries)


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
