"""``ipu-anchor-hints``: placement hints on ops and in types, kept through fusion."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.operand_mapping import operand_mapping
from ipu_mlir.dialects.analysis.variables import VARIABLE
from ipu_mlir.dialects.attributes.attributes import mapping_to_attr, parts_from_attr
from ipu_mlir.dialects.mapping.part_rules import broken_part_rule
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.importing.type_hints import anchor_types
from ipu_mlir.passes.support.malformed import refuse_malformed
from ipu_mlir.passes.support.placement_hints import MAP, PARTS, place_memory, place_value
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies
from ipu_mlir.passes.support.tensor_views import row_major


@dataclass(frozen=True)
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
                anchor_types(function, refuse)
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
    window = row_major(result.type.shape)
    home = operand_mapping(parts, nest.outputs[0], window.shape, window.strides, 0, prod(window.shape))
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
