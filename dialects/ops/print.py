"""``ipu.print``: the host shows a value while the program runs."""

from typing import Any

from ipu_mlir.dialects.analysis.host_calls import HostCall
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class PrintOp(Ipu.Operation, name="print"):
    """Show a tensor on standard error of the host, after its label; with ``unsigned``, as integers without a sign.

        "ipu.print"(%loss) {label = "loss"} : (tensor<f32>) -> ()

    In supersteps it takes a buffer.
    """

    label: ir.StringAttr
    value: ext.Operand[Any]
    host_call = HostCall("streams", "label", number="unsigned")
    effects = host_call.effects

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        kind = op.value.type
        if not isinstance(kind, ir.RankedTensorType | ir.MemRefType) or not kind.has_static_shape:
            return fail(op, f"shows {kind}; it takes a ranked tensor of static shape, or a buffer in supersteps")
        if "unsigned" in op.operation.attributes and not isinstance(kind.element_type, ir.IntegerType):
            return fail(op, f"shows {kind} as integers without a sign; leave unsigned away")
        return True
