"""``ipu.read_control``: control flow learns a scalar that lies on a tile."""

from typing import Any

from ipu_mlir.dialects.analysis.buffers import memory_mapping
from ipu_mlir.dialects.analysis.effects import Effects, operands
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class ReadControlOp(Ipu.Operation, name="read_control"):
    """Hand the scalar in ``source`` to the program's control flow: every tile learns it, at the cost of a sync.

        %condition = "ipu.read_control"(%flag) : (memref<i1, #home>) -> i1

    Loops, branches and run-time offsets depend on such scalars; what is computed from them runs on every tile alike.
    """

    source: ext.Operand[Any]
    value: ext.Result[Any]
    effects = Effects(operands(read=[0]), host=True)

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        source, value = op.source.type, op.value.type
        if not isinstance(source, ir.MemRefType) or len(source.shape):
            return fail(op, f"reads {source}; control flow takes one scalar, from a memref of rank 0")
        if memory_mapping(source) is None:
            return fail(op, f"has a source that lies on no tile: {source}; give it a #ipu.mapping as memory space")
        if source.element_type != value:
            return fail(op, f"reads {source.element_type} as {value}; both are one type")
        return True
