"""``ipu-bufferize-streams``: elements of queues go to and come from buffers."""

from dataclasses import dataclass

from ipu_mlir.dialects.ipu import ReceiveOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.programs.buffer_types import buffer_type
from ipu_mlir.passes.support.rewriting import has_uses, list_ops


@dataclass(frozen=True)
class BufferizeStreams(Pass):
    """Let the host write to and read from buffers, which the tensors around them show.

    Upstream's bufferization knows nothing of our ops; it knows how to see a buffer as a tensor, and a tensor as one.

    Needs:  placed tensors (``ipu-place-tensors``).
    Leaves: ``ipu.receive`` into a ``memref.alloc`` for every ``ipu.element`` that is used, ``ipu.put`` of buffers only.
    """

    name = "ipu-bufferize-streams"

    def run(self, module: ir.Operation) -> None:
        bufferization, memref = upstream("bufferization"), upstream("memref")
        with module.context:
            for op in list_ops(module, "ipu.element"):
                if not has_uses(op):
                    op.erase()
                    continue
                kind = op.results[0].type
                with ir.InsertionPoint(op), op.location:
                    buffer = memref.AllocOp(buffer_type(kind), [], []).memref
                    ReceiveOp(queue=op.attributes["queue"], index=op.attributes["index"], dest=buffer)
                    tensor = bufferization.ToTensorOp(kind, buffer, restrict=True, writable=True).result
                op.results[0].replace_all_uses_with(tensor)
                op.erase()
            for op in list_ops(module, "ipu.put"):
                if isinstance(op.operands[0].type, ir.RankedTensorType):
                    with ir.InsertionPoint(op), op.location:
                        kind = buffer_type(op.operands[0].type)
                        op.operands[0] = bufferization.ToBufferOp(kind, op.operands[0], read_only=True).buffer
