"""``ipu.place``: a value lies where the writer of the program says."""

from typing import Any

from ipu_mlir.dialects.analysis.effects import NO_EFFECTS
from ipu_mlir.dialects.attributes.attributes import MappingAttr, mapping_from_attr
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class PlaceOp(Ipu.Operation, name="place", traits=[ext.Pure]):
    """The same value, with a hint where it lies; the placing pass honours it or refuses with a reason.

        %y = "ipu.place"(%x) {mapping = #ipu.mapping<...>} : (tensor<4xf32>) -> tensor<4xf32>

    Takes a ranked tensor of static shape, and gives a value of that type.
    """

    source: ext.Operand[Any]
    mapping: MappingAttr
    placed: ext.Result[Any]
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        source, placed = op.source.type, op.placed.type
        if not isinstance(source, ir.RankedTensorType) or not source.has_static_shape:
            return fail(op, f"places {source}; only a ranked tensor of static shape lies on tiles")
        if source != placed:
            return fail(op, f"gives {placed} for {source}; a place keeps the type")
        mapping_from_attr(op.mapping)
        return True
