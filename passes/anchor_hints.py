"""``ipu-anchor-hints``: placement hints on ops, kept through fusion."""

from dataclasses import dataclass

from ipu_mlir.dialects.attributes import mapping_to_attr, parts_from_attr
from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.ipu import PlaceOp
from ipu_mlir.dialects.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.operand_mapping import operand_mapping
from ipu_mlir.dialects.part_rules import broken_part_rule
from ipu_mlir.passes.base import Pass, Refusals
from ipu_mlir.passes.placement_hints import PARTS
from ipu_mlir.passes.rewriting import list_ops
from ipu_mlir.passes.tensor_views import row_major


@dataclass(frozen=True)
class AnchorHints(Pass):
    """Turn ``ipu.parts`` on ops into ``ipu.place`` of their results.

    Fusion makes new ops without the attributes of the old ones; it does not look through ``ipu.place``. Parts and the
    mapping of a result follow from each other.

    Needs:  linalg on tensors.
    Leaves: ``ipu.place`` on the first result of every op that had ``ipu.parts``.
    """

    name = "ipu-anchor-hints"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            for op in list_ops(module):
                if is_structured(op) and PARTS in op.attributes:
                    broken = _anchor(op)
                    if broken is not None:
                        refuse(op, broken)


def _anchor(op: ir.Operation) -> str | None:
    """Place the first result of ``op`` where its parts put it; answers what is wrong with the parts, if anything."""
    nest = loop_nest(op)
    if nest is None:
        return "has ipu.parts, but loops whose extents are not known"
    parts = parts_from_attr(op.attributes[PARTS])
    broken = broken_part_rule(parts, nest.extents, nest.parallel)
    if broken is not None:
        return broken
    result = op.results[0]
    window = row_major(result.type.shape)
    home = operand_mapping(parts, nest.outputs[0], window.shape, window.strides, 0, max(1, _size(window.shape)))
    after = list(op.block.operations)
    following = after[[other.operation == op for other in after].index(True) + 1]
    with ir.InsertionPoint(following), op.location:
        place = PlaceOp(source=result, mapping=mapping_to_attr(home), placed=result.type)
    result.replace_all_uses_except(place.placed, place.operation)
    del op.attributes[PARTS]
    return None


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size
