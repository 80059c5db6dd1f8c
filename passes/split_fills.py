"""``ipu-split-fills``: every user gets a fill and an empty tensor of its own."""

from dataclasses import dataclass

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.rewriting import list_ops


@dataclass(frozen=True)
class SplitFills(Pass):
    """Give every user of a fill or an empty tensor one of its own.

    A filled accumulator lies where the op that accumulates lies, so two ops cannot share one; bufferization would
    copy it for each. Filling again costs less than a copy.

    Needs:  linalg on tensors, after the last ``cse``.
    Leaves: no ``linalg.fill`` and no ``tensor.empty`` with more than one use.
    """

    name = "ipu-split-fills"

    def run(self, module: ir.Operation) -> None:
        for op in list_ops(module, "linalg.fill"):
            split_uses(op)
        for op in list_ops(module, "tensor.empty"):
            split_uses(op)


def split_uses(op: ir.Operation) -> None:
    """Leave ``op`` to its first user and clone it in front of each of the others."""
    uses = [(use.owner, use.operand_number) for use in op.results[0].uses]
    for owner, number in uses[:-1]:  # uses are listed from the last to the first
        owner.operation.operands[number] = op.clone(ip=ir.InsertionPoint(owner)).results[0]
