"""``ipu-decompose-linalg-ops``: structured ops without one loop nest, as the ops that they are made of."""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops

# Upstream knows how, but only the transform dialect reaches it.
_SCHEDULE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %aggregates = transform.structured.match ops{["linalg.softmax"]} in %module
        : (!transform.any_op) -> !transform.any_op
    %parts = transform.structured.decompose_interface %aggregates : (!transform.any_op) -> !transform.any_op
    %packs = transform.structured.match ops{["linalg.pack"]} in %module
        : (!transform.any_op) -> !transform.op<"linalg.pack">
    transform.structured.lower_pack %packs : (!transform.op<"linalg.pack">)
        -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
    %unpacks = transform.structured.match ops{["linalg.unpack"]} in %module
        : (!transform.any_op) -> !transform.op<"linalg.unpack">
    transform.structured.lower_unpack %unpacks : (!transform.op<"linalg.unpack">)
        -> (!transform.op<"tensor.empty">, !transform.op<"linalg.transpose">, !transform.op<"tensor.collapse_shape">,
            !transform.op<"tensor.extract_slice">, !transform.op<"linalg.copy">)
    transform.yield
  }
}
"""


class DecomposeLinalgOps(Pass):
    """Write linalg.softmax, linalg.pack and linalg.unpack as the ops that they are made of.

    Needs:  linalg on tensors with static shapes.
    Leaves: the maximum, the exponentials, their sum and the quotients for ``linalg.softmax``; pads, views and
            transposes for ``linalg.pack`` and ``linalg.unpack``.
    """

    name = "ipu-decompose-linalg-ops"

    def run(self, module: ir.Operation) -> None:
        if not list_ops(module, "linalg.softmax", "linalg.pack", "linalg.unpack"):
            return
        interpreter = upstream("transform.interpreter")
        with module.context, ir.Location.unknown():
            schedule = ir.Module.parse(_SCHEDULE)
            interpreter.apply_named_sequence(module, next(iter(schedule.body.operations)), schedule)
