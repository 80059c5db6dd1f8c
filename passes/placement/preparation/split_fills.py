"""``ipu-split-fills``: every user gets a fill, an empty tensor and what is begun in it of its own, beside it."""

from collections.abc import Callable

from ipu_mlir.dialects.analysis.control_flow import is_terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.placement.preparation.fill_empties import begun_tensors, goes_on_filling
from ipu_mlir.passes.raising.elements.raise_element_ops import is_in_body
from ipu_mlir.passes.support.rewriting import has_uses, list_ops
from ipu_mlir.passes.support.tensor_views import VIEW_OPS


class SplitFills(Pass):
    """Give every user of a fill or an empty tensor one of its own, in the loop or branch where the user is.

    A filled accumulator lies where the op that accumulates lies, so two ops cannot share one; bufferization would
    copy it for each, and in every iteration of a loop for what is made before the loop. Filling again costs less than a
    copy. So does inserting again where tensors begin with the same slices and go on differently, as concatenations with
    equal first operands do after ``cse``: a copy of what they share would read the part that is still empty, too.

    Needs:  linalg on tensors, after the last ``cse``.
    Leaves: no ``linalg.fill`` and no ``tensor.empty`` with more than one use, and none outside of the loop or branch in
            which an op writes there; no two users that go on filling what inserted slices have begun to fill; no fill
            of what another one has filled, or of a view of an empty tensor.
    """

    name = "ipu-split-fills"

    def run(self, module: ir.Operation) -> None:
        for begun in reversed(begun_tensors(module)):  # a clone uses what was begun before it
            split_uses(begun.owner.operation, is_wanted=goes_on_filling)
        with module.context:
            for op in list_ops(module, "linalg.fill"):
                _fill_what_was_there(op)
        for op in list_ops(module, "linalg.fill"):
            split_uses(op)
        for op in list_ops(module, "tensor.empty"):
            split_uses(op)


def _fill_what_was_there(op: ir.Operation) -> None:
    """Let ``op`` fill what another fill has filled, which it overwrites; not a view of an empty tensor, but another."""
    earlier = defining_op(op.operands[1], "linalg.fill")
    if earlier is not None:
        op.operands[1] = earlier.operands[1]
        if not has_uses(earlier):
            earlier.erase()
    begun = op.operands[1]
    while (view := defining_op(begun, *VIEW_OPS)) is not None:
        begun = view.operands[0]
    if begun != op.operands[1] and defining_op(begun, "tensor.empty") is not None:
        kind = op.results[0].type
        with ir.InsertionPoint(op), op.location:
            op.operands[1] = upstream("tensor").EmptyOp(kind.shape, kind.element_type).result


def split_uses(op: ir.Operation, is_wanted: Callable[[ir.OpOperand], bool] = lambda use: True) -> None:
    """Leave ``op`` to its first user and clone it in front of each of the others that are wanted."""
    uses = list(op.results[0].uses)
    for use in uses[:-1]:  # uses are listed from the last to the first
        if is_wanted(use):
            copy = op.clone(ip=ir.InsertionPoint(_outside_bodies(use.owner.operation)))
            use.owner.operation.operands[use.operand_number] = copy.results[0]
    rest = list(op.results[0].uses)
    if len(rest) == 1 and is_wanted(rest[0]) and _is_written_by(rest[0]):
        user = rest[0].owner.operation
        if user.block != op.block:
            op.move_before(user)


def _is_written_by(use: ir.OpOperand) -> bool:
    """True if ``use`` puts something there, or hands it on as a new value."""
    user = use.owner.operation
    if is_structured(user):
        return use.operand_number >= len(user.operands) - len(user.results)
    return goes_on_filling(use) or (is_terminator(user) and user.name != "func.return")


def _outside_bodies(op: ir.Operation) -> ir.Operation:
    while is_in_body(op):
        op = op.parent.operation
    return op
