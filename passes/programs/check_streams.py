"""``ipu-check-streams``: what must hold of the ops on queues and functions of the host of a whole module."""

from collections.abc import Mapping

from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, op_around
from ipu_mlir.dialects.analysis.queues import WORKS_ON, Queue, index_of, queue_of, queues_in
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops


class CheckStreams(Pass):
    """Refuse elements of queues that are not there, of another form, or that are taken or put together by halves.

    ``ipu.element`` follows an ``ipu.dequeue`` or ``ipu.host_call`` of its block. Between two ``ipu.enqueue`` or
    ``ipu.host_call``, or the begin of the block and the first, stands one ``ipu.put`` for each tensor of the element.

    Needs:  functions of one block.
    Leaves: the module as it was.
    """

    name = "ipu-check-streams"

    def run(self, module: ir.Operation) -> None:
        with module.context, Refusals() as refuse:
            refuse_wrong_streams(module, refuse)


def refuse_wrong_streams(module: ir.Operation, refuse: Refusals) -> None:
    """Report every op on a queue of ``module`` that is wrong, on tensors or on buffers."""
    users, queues = list_ops(module, *WORKS_ON), queues_in(module)
    broken = [(op, _broken_op(op, queues)) for op in users]
    for op, message in broken:
        if message is not None:
            refuse(op, message)
    if users and all(message is None for _, message in broken):
        for function in list_ops(module, "func.func"):
            for block in blocks_of(function):
                _check_block(block, queues, refuse)


def _broken_op(op: ir.Operation, queues: Mapping[str, Queue]) -> str | None:
    """The error of ``op`` by itself, as the end of a sentence."""
    name, kinds = queue_of(op), WORKS_ON[op.name]
    if name not in queues or queues[name].kind not in kinds:
        known = ", ".join(f"@{queue.name}" for queue in queues.values() if queue.kind in kinds)
        return f"names @{name}, but the {'s and '.join(kinds)}s of the module are: {known or 'none'}"
    around = op_around(op)
    if around.name != "func.func":
        return f"stands in '{around.name}'; queues are used in functions, loops and branches of scf"
    if "index" not in op.attributes:
        return None
    index, types = index_of(op), queues[name].takes if op.name == "ipu.put" else queues[name].gives
    if not 0 <= index < len(types):
        return f"is of tensor {index}, but the elements of @{name} have {counted(len(types), 'tensor')}"
    value = next(iter((*op.operands, *op.results))).type
    if not isinstance(value, ir.RankedTensorType | ir.MemRefType):
        return f"is of type {value}; elements have tensors, or buffers in supersteps"
    if list(value.shape) != list(types[index].shape) or value.element_type != types[index].element_type:
        return f"is of type {value}, but tensor {index} of the elements of @{name} is {types[index]}"
    return None


def _check_block(block: ir.Block, queues: Mapping[str, Queue], refuse: Refusals) -> None:
    taken: set[str] = set()
    put: dict[str, set[int]] = {name: set() for name in queues}
    for view in block.operations:
        op = view.operation
        if op.name == "ipu.dequeue":
            taken.add(queue_of(op))
        elif op.name in ("ipu.element", "ipu.receive") and queue_of(op) not in taken:
            needs = "ipu.dequeue" if queues[queue_of(op)].kind == "infeed" else "ipu.host_call"
            refuse(op, f"has no element: no {needs} of @{queue_of(op)} stands before it in its block")
        elif op.name == "ipu.put":
            if index_of(op) in put[queue_of(op)]:
                refuse(op, f"puts tensor {index_of(op)} of @{queue_of(op)} a second time before an element is whole")
            put[queue_of(op)].add(index_of(op))
        elif op.name in ("ipu.enqueue", "ipu.host_call"):
            missing = set(range(len(queues[queue_of(op)].takes))) - put[queue_of(op)]
            if missing:
                refuse(op, f"passes an element of @{queue_of(op)} without tensor {min(missing)}; put it before")
            put[queue_of(op)] = set()
            taken.add(queue_of(op))
        elif control_op(op) is not None:
            for inner in blocks_of(op):
                _check_block(inner, queues, refuse)
