"""``ipu-bufferize-streams``: elements of queues and rows of remote buffers go to and come from buffers."""

from ipu_mlir.dialects.analysis.host_calls import FROM_HOST, TO_HOST
from ipu_mlir.dialects.ipu import FetchOp, ReceiveOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.programs.buffer_types import buffer_type, refuse_views
from ipu_mlir.passes.support.rewriting import has_uses, list_ops


class BufferizeStreams(Pass):
    """Let the host write to and read from buffers, which the tensors around them show.

    Upstream's bufferization knows nothing of our ops; it knows how to see a buffer as a tensor, and a tensor as one.

    Needs:  placed tensors (``ipu-place-tensors``), whole ones where ops of ours take them (``ipu-materialize-views``).
    Leaves: ``ipu.receive`` or ``ipu.fetch`` into a ``memref.alloc`` for every ``ipu.element``, ``ipu.remote_load`` and
            ``ipu.host_gather`` that is used; ``ipu.put``, ``ipu.print``, ``ipu.remote_store`` and
            ``ipu.host_update_add`` of buffers only.
    """

    name = "ipu-bufferize-streams"

    def run(self, module: ir.Operation) -> None:
        bufferization, memref = upstream("bufferization"), upstream("memref")
        with Refusals() as refuse:
            refuse_views(list_ops(module, *TO_HOST), refuse)
        with module.context:
            for op in list_ops(module, *TO_HOST):
                for number, operand in enumerate(op.operands):
                    if isinstance(operand.type, ir.RankedTensorType):
                        with ir.InsertionPoint(op), op.location:
                            kind = buffer_type(operand.type)
                            op.operands[number] = bufferization.ToBufferOp(kind, operand, read_only=True).buffer
            for op in list_ops(module, *FROM_HOST):
                if has_uses(op):
                    kind = op.results[0].type
                    with ir.InsertionPoint(op), op.location:
                        buffer = memref.AllocOp(buffer_type(kind), [], []).memref
                        _fill(op, buffer)
                        tensor = bufferization.ToTensorOp(kind, buffer, restrict=True, writable=True).result
                    op.results[0].replace_all_uses_with(tensor)
                op.erase()


def _fill(op: ir.Operation, buffer: ir.Value) -> None:
    """The op that writes to ``buffer`` what ``op`` gives."""
    if op.name == "ipu.element":
        ReceiveOp(queue=op.attributes["queue"], index=op.attributes["index"], dest=buffer)
    else:
        FetchOp(buffer=op.attributes["buffer"], dest=buffer, rows=op.operands[0])
