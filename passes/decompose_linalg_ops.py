"""``ipu-decompose-linalg-ops``: structured ops without one loop nest, as the ops that they are made of."""

from dataclasses import dataclass

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.rewriting import list_ops

# Upstream knows how, but only the transform dialect reaches it.
_SCHEDULE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %aggregates = transform.structured.match ops{["linalg.softmax"]} in %module
        : (!transform.any_op) -> !transform.any_op
    %parts = transform.structured.decompose_interface %aggregates : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


@dataclass(frozen=True)
class DecomposeLinalgOps(Pass):
    """Write linalg.softmax as the maximum, the exponentials, their sum and the quotients.

    Needs:  linalg on tensors with static shapes.
    Leaves: no ``linalg.softmax``.
    """

    name = "ipu-decompose-linalg-ops"

    def run(self, module: ir.Operation) -> None:
        if not list_ops(module, "linalg.softmax"):
            return
        interpreter = upstream("transform.interpreter")
        with module.context, ir.Location.unknown():
            schedule = ir.Module.parse(_SCHEDULE)
            interpreter.apply_named_sequence(module, next(iter(schedule.body.operations)), schedule)
