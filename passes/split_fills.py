"""``ipu-split-fills``: every user gets a fill, an empty tensor and what is begun in it of its own."""

from collections.abc import Callable
from dataclasses import dataclass

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.begun_tensors import begun_tensors, goes_on_filling
from ipu_mlir.passes.rewriting import list_ops


@dataclass(frozen=True)
class SplitFills(Pass):
    """Give every user of a fill or an empty tensor one of its own.

    A filled accumulator lies where the op that accumulates lies, so two ops cannot share one; bufferization would
    copy it for each. Filling again costs less than a copy. So does inserting again where tensors begin with the same
    slices and go on differently, as concatenations with equal first operands do after ``cse``: a copy of what they
    share would read the part that is still empty, too.

    Needs:  linalg on tensors, after the last ``cse``.
    Leaves: no ``linalg.fill`` and no ``tensor.empty`` with more than one use; no two users that go on filling what
            inserted slices have begun to fill.
    """

    name = "ipu-split-fills"

    def run(self, module: ir.Operation) -> None:
        for begun in reversed(begun_tensors(module)):  # a clone uses what was begun before it
            split_uses(begun.owner.operation, is_wanted=goes_on_filling)
        for op in list_ops(module, "linalg.fill"):
            split_uses(op)
        for op in list_ops(module, "tensor.empty"):
            split_uses(op)


def split_uses(op: ir.Operation, is_wanted: Callable[[ir.OpOperand], bool] = lambda use: True) -> None:
    """Leave ``op`` to its first user and clone it in front of each of the others that are wanted."""
    uses = list(op.results[0].uses)
    for use in uses[:-1]:  # uses are listed from the last to the first
        if is_wanted(use):
            owner = use.owner
            owner.operation.operands[use.operand_number] = op.clone(ip=ir.InsertionPoint(owner)).results[0]
