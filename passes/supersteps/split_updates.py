"""``ipu-split-updates``: bufferization need not compare all updates of one tensor with each other."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.control_flow import flows
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import block_of, defining_op
from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_outside_bodies
from ipu_mlir.passes.support.tensor_views import VIEW_OPS


@dataclass(frozen=True)
class SplitUpdates(Pass):
    """Go on with a copy after some updates of a tensor, one after the other.

    ``one-shot-bufferize`` asks of each pair of a read and a write whether a third op stands between them, among all
    that may be in one buffer: the time of the third power of their number. Variables, tensors that begin in another
    block, and parts of larger ones must stay where they are.

    Needs:  ``ipu-materialize-casts``.
    Leaves: no more than ``most`` updates of what a function is given or a tensor begins as without a copy among them;
            ``ipu-join-updates`` removes the copies again.
    """

    name = "ipu-split-updates"

    most: int = 32

    def run(self, module: ir.Operation) -> None:
        with module.context:
            updates: dict[ir.Value, int] = {}  # of the tensors that may go on as copies
            for op in list_outside_bodies(module):
                for number, result in _updated(op):
                    tensor = op.operands[number]
                    done = updates.get(tensor, 0 if _begins(tensor, op) else None)
                    if done == self.most:
                        _go_on_with_copy(tensor)
                        done = 0
                    if done is not None:
                        updates[result] = done + 1


def _updated(op: ir.Operation) -> Iterator[tuple[int, ir.Value]]:
    """The tensors that ``op`` may update in place, as the numbers of operands, and what they are then."""
    if op.name in ("tensor.insert", "tensor.insert_slice"):
        yield 1, op.results[0]
    elif is_structured(op) and len(op.results):
        first = len(op.operands) - num_outputs(op)
        yield from enumerate(op.results, first)
    for flow in flows(op):
        if flow.source == op and any(target == result for target in flow.targets for result in op.results):
            yield from enumerate(flow.targets, flow.first)


def _begins(tensor: ir.Value, op: ir.Operation) -> bool:
    """True if ``tensor`` is made in the block of ``op``, or an argument of its function, but no part or variable."""
    made, home = defining_op(tensor), block_of(tensor)
    if home != op.block or not isinstance(tensor.type, ir.RankedTensorType):
        return False
    if made is not None:
        return made.name not in VIEW_OPS and not flows(made)
    function = home.owner.operation
    return function.name == "func.func" and ir.BlockArgument(tensor).arg_number not in variable_arguments(function)


def _go_on_with_copy(tensor: ir.Value) -> None:
    made = defining_op(tensor)
    assert made is not None, "it was updated"
    with ir.InsertionPoint.after(made), made.location:
        copy = upstream("bufferization").AllocTensorOp(tensor.type, [], copy=tensor)
    tensor.replace_all_uses_except(copy.result, [copy.operation])
