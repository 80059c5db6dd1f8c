"""Tensors that inserted slices have begun to fill."""

from math import prod

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.rewriting import list_ops


def begun_tensors(module: ir.Operation) -> dict[ir.Value, ir.Value]:
    """Results of ``tensor.insert_slice`` that are empty somewhere, in program order, and the tensor.empty below each.

    Slices count as if they did not overlap.
    """
    begun: dict[ir.Value, ir.Value] = {}
    filled: dict[ir.Value, int] = {}
    for op in list_ops(module, "tensor.insert_slice"):
        slice_type, dest, result = op.operands[0].type, op.operands[1], op.results[0]
        empty = begun.get(dest, dest)
        is_empty = not isinstance(empty.owner, ir.Block) and empty.owner.name == "tensor.empty"
        if is_empty and slice_type.has_static_shape and result.type.has_static_shape:
            filled[result] = filled.get(dest, 0) + prod(slice_type.shape)
            if filled[result] < prod(result.type.shape):
                begun[result] = empty
    return begun


def goes_on_filling(use: ir.OpOperand) -> bool:
    """Whether ``use`` inserts a slice into the tensor."""
    return use.owner.name == "tensor.insert_slice" and use.operand_number == 1
