"""``ipu-bufferize-collectives``: what replicas know of each other goes from buffer to buffer."""

from ipu_mlir.dialects.analysis.collectives import COLLECTIVES
from ipu_mlir.dialects.ipu import CollectiveOp, NumberReplicaOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.programs.buffer_types import buffer_type, refuse_views
from ipu_mlir.passes.support.rewriting import has_uses, list_ops


class BufferizeCollectives(Pass):
    """Turn collectives on tensors into collectives that read one buffer and write another.

    Upstream's bufferization knows nothing of our ops; it knows how to see a buffer as a tensor, and a tensor as one.

    Needs:  placed tensors (``ipu-place-tensors``), whole ones where ops of ours take them (``ipu-materialize-views``).
    Leaves: ``ipu.collective`` and ``ipu.number_replica`` into a ``memref.alloc`` each.
    """

    name = "ipu-bufferize-collectives"

    def run(self, module: ir.Operation) -> None:
        bufferization, memref = upstream("bufferization"), upstream("memref")
        with Refusals() as refuse:
            refuse_views(list_ops(module, *COLLECTIVES), refuse)
        with module.context:
            for op in list_ops(module, *COLLECTIVES, "ipu.replica_index"):
                if has_uses(op):
                    kind = op.results[0].type
                    with ir.InsertionPoint(op), op.location:
                        buffer = memref.AllocOp(buffer_type(kind), [], []).memref
                        if op.name == "ipu.replica_index":
                            NumberReplicaOp(dest=buffer)
                        else:
                            source = bufferization.ToBufferOp(
                                buffer_type(op.operands[0].type), op.operands[0], read_only=True
                            ).buffer
                            made = CollectiveOp(
                                source=source, dest=buffer, kind=ir.StringAttr.get(op.name.removeprefix("ipu."))
                            )
                            for name in op.attributes:
                                made.operation.attributes[name] = op.attributes[name]
                        tensor = bufferization.ToTensorOp(kind, buffer, restrict=True, writable=True).result
                    op.results[0].replace_all_uses_with(tensor)
                op.erase()
