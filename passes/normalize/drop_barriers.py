"""``ipu-drop-barriers``: barriers go when no pass looks for what is computed twice any more."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class DropBarriers(Pass):
    """Let what is computed from ``ipu.barrier`` be computed from its operand.

    A gradient of ``jax.checkpoint`` computes again what it does not store, behind barriers: without them, ``cse`` would
    find that it has been computed before, and store it.

    Needs:  tensors, before they are placed and after the last ``cse``.
    Leaves: no ``ipu.barrier``.
    """

    name = "ipu-drop-barriers"

    def run(self, module: ir.Operation) -> None:
        for op in list_ops(module, "ipu.barrier"):
            replace_op(op, [op.operands[0]])
