"""``ipu.barrier``: a value that is computed with anew."""

from typing import Any

from ipu_mlir.dialects.analysis.effects import NO_EFFECTS
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class BarrierOp(Ipu.Operation, name="barrier", traits=[ext.Pure]):
    """The same value; what is computed from it is not what has been computed from the other one.

    %y = "ipu.barrier"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    """

    source: ext.Operand[Any]
    anew: ext.Result[Any]
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        source, anew = op.source.type, op.anew.type
        return source == anew or fail(op, f"gives {anew} for {source}; it keeps the type")
