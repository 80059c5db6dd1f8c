"""The types of the elements that a structured op reads and writes, by MLIR's names."""

from ipu_mlir.dialects.analysis.loop_nest import LoopNest
from ipu_mlir.dialects.support.bindings import ir


def dtype_of(op: ir.Operation, number: int) -> str:
    """The type of the elements of an operand, or of a scalar."""
    kind = op.operands[number].type
    return str(kind.element_type if isinstance(kind, ir.ShapedType) else kind)


def result_dtype(op: ir.Operation, nest: LoopNest) -> str:
    """The type of the first result, or of the first operand of an op that only checks."""
    return dtype_of(op, nest.num_inputs if nest.num_inputs < len(op.operands) else 0)
