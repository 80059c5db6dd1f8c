"""``ipu-split-updates``: bufferization need not compare all updates of one tensor with each other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ipu_mlir.dialects.analysis.control_flow import flows, is_branch, is_terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import block_of, defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import copy_into
from ipu_mlir.passes.support.rewriting import list_outside_bodies
from ipu_mlir.passes.support.tensor_views import VIEW_OPS


@dataclass(frozen=True)
class _Chain:
    """Updates of one tensor, one after the other.

    Attributes:
        done: the updates since it began, or since the last copy.
        home: where what comes out of its block has to lie: the tensor that it began with, unless the block made that.
        has_left: it goes on in a copy.
    """

    home: ir.Value | None = None
    done: int = 0
    has_left: bool = False


@dataclass(frozen=True)
class SplitUpdates(Pass):
    """Go on with a copy after some updates of a tensor, one after the other.

    ``one-shot-bufferize`` asks of each pair of a read and a write whether a third op stands between them, among all
    that may be in one buffer: the time of the third power of their number. What comes out of a loop, of a branch or of
    a function has to lie where it was, so the last copy goes back there. Parts of larger tensors stay where they are.

    Needs:  ``ipu-materialize-casts``.
    Leaves: no more than ``most`` updates in a block of what a function is given, a loop carries or a tensor begins as
            without a copy among them; ``ipu-join-updates`` removes the copies again.
    """

    name = "ipu-split-updates"

    most: int = 32

    def run(self, module: ir.Operation) -> None:
        chains: dict[ir.Value, _Chain] = {}  # by the tensor that each has come to
        with module.context:
            for op in list_outside_bodies(module):
                for number, result in _updated(op):
                    chain = _chain_of(op.operands[number], op, chains)
                    if chain is not None and chain.done >= self.most:
                        _go_on_with_copy(op.operands[number])
                        chain = chains[op.operands[number]] = replace(chain, done=0, has_left=True)
                    if chain is not None:
                        chains[result] = _Chain(chain.home, chain.done + 1, chain.has_left)
                if is_terminator(op):
                    _end_block(op, chains)


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


def _chain_of(tensor: ir.Value, op: ir.Operation, chains: dict[ir.Value, _Chain]) -> _Chain | None:
    """The chain that ``op`` goes on with when it updates ``tensor``; None if it may not go on in a copy."""
    if not isinstance(tensor.type, ir.RankedTensorType):
        return None
    if block_of(tensor) != op.block:
        return _Chain(home=tensor)
    if tensor in chains:
        return chains[tensor]
    made = defining_op(tensor)
    if made is not None and made.name in VIEW_OPS:
        return None
    return _Chain(home=tensor if made is None or flows(made) else None)


def _go_on_with_copy(tensor: ir.Value) -> None:
    made = defining_op(tensor)
    assert made is not None, "it was updated"
    with ir.InsertionPoint.after(made), made.location:
        copy = upstream("bufferization").AllocTensorOp(tensor.type, [], copy=tensor)
    tensor.replace_all_uses_except(copy.result, [copy.operation])


def _end_block(end: ir.Operation, chains: dict[ir.Value, _Chain]) -> None:
    """Bring what ``end`` yields back to where it has to lie; a branch that updates a tensor is an update itself."""
    around = end.parent.operation
    for number, tensor in enumerate(end.operands):
        chain = chains.get(tensor, _Chain()) if block_of(tensor) == end.block else _Chain(home=tensor)
        if chain.home is None:
            continue
        if chain.has_left:
            with ir.InsertionPoint(end), end.location:
                end.operands[number] = copy_into(tensor, chain.home).results[0]
        is_from_outside = is_branch(around) and block_of(chain.home) != end.block
        before = _chain_of(chain.home, around, chains) if is_from_outside else None
        if before is not None:
            result = around.results[number]
            done = max(before.done + 1, chains.get(result, before).done)
            chains[result] = replace(before, done=done)
