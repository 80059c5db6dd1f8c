"""``ipu.fifo``: a value of some iterations ago."""

from typing import Any

from ipu_mlir.dialects.analysis.effects import Effects
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class FifoOp(Ipu.Operation, name="fifo"):
    """The value that this op was given ``depth`` executions ago; zeros before there is one.

        %y = "ipu.fifo"(%x) {depth = 2, offload} : (tensor<4xf32>) -> tensor<4xf32>

    It remembers from run to run. With ``offload`` what it holds lies in remote memory. A depth of 0 or less gives back
    what it is given.
    """

    depth: ir.IntegerAttr
    value: ext.Operand[Any]
    delayed: ext.Result[Any]
    effects = Effects(ordered=True)

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        value, delayed = op.value.type, op.delayed.type
        if not isinstance(value, ir.RankedTensorType) or not value.has_static_shape:
            return fail(op, f"delays {value}; it takes a ranked tensor of static shape")
        if value != delayed:
            return fail(op, f"gives {delayed} for {value}; a fifo keeps the type")
        return True
