"""``ipu.to_shard``: a value on the tiles of another IPU."""

from typing import Any

from ipu_mlir.dialects.analysis.effects import NO_EFFECTS
from ipu_mlir.dialects.analysis.shards import ALL_IPUS
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class ToShardOp(Ipu.Operation, name="to_shard", traits=[ext.Pure]):
    """The same value on the tiles of the IPU ``shard``; it moves over the links if it lies on another one.

        %y = "ipu.to_shard"(%x) {shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>

    Takes a ranked tensor of static shape, and gives a value of that type. Shard -1 is any place on all IPUs.
    """

    source: ext.Operand[Any]
    shard: ir.IntegerAttr
    moved: ext.Result[Any]
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        source, moved = op.source.type, op.moved.type
        if not isinstance(source, ir.RankedTensorType) or not source.has_static_shape:
            return fail(op, f"moves {source}; only a ranked tensor of static shape lies on tiles")
        if source != moved:
            return fail(op, f"gives {moved} for {source}; moving a value keeps its type")
        shard = op.shard.value
        if shard < ALL_IPUS:
            return fail(op, f"has shard {shard}; IPUs are counted from 0, and {ALL_IPUS} stands for all of them")
        return True
