"""``ipu.stop_gradient``: a value that is not differentiated."""

from typing import Any

from ipu_mlir.dialects.analysis.effects import NO_EFFECTS
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class StopGradientOp(Ipu.Operation, name="stop_gradient", traits=[ext.Pure]):
    """The same value; gradients take it for a constant.

    %y = "ipu.stop_gradient"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    """

    source: ext.Operand[Any]
    stopped: ext.Result[Any]
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        source, stopped = op.source.type, op.stopped.type
        return source == stopped or fail(op, f"gives {stopped} for {source}; it keeps the type")
