"""``ipu-fill-empties``: no op reads memory that nobody wrote."""

from math import prod

from ipu_mlir.dialects.analysis.control_flow import control_op, is_terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured, reads_operand
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import fill_with, zero
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import VIEW_OPS


class FillEmpties(Pass):
    """Fill empty tensors with zeros where an op may read them.

    A loop that puts elements into an empty tensor one by one carries those that it has not put yet, and a padding may
    copy one side before there is the other; what they hold is undefined, and on the machine it is a read of memory that
    was never written.

    Needs:  linalg on tensors.
    Leaves: ``tensor.empty`` only where every element is written before it is read.
    """

    name = "ipu-fill-empties"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            read_early = {
                empty for begun, empty in begun_tensors(module).items() if not all(map(goes_on_filling, begun.uses))
            }
            for empty in list_ops(module, "tensor.empty"):
                if 0 in empty.results[0].type.shape:
                    continue
                is_read_early = empty.results[0] in read_early
                uses = [
                    use for use in empty.results[0].uses if _may_read(use) or (is_read_early and goes_on_filling(use))
                ]
                if not uses:
                    continue
                element_type = empty.results[0].type.element_type
                with ir.InsertionPoint(empty), empty.location:
                    fresh = empty.clone().results[0]
                    filled = fill_with(zero(element_type), fresh).results[0]
                for use in uses:
                    use.owner.operation.operands[use.operand_number] = filled


def _may_read(use: ir.OpOperand) -> bool:
    op, number = use.owner.operation, use.operand_number
    if is_structured(op):
        return reads_operand(op, number)
    if op.name == "tensor.insert_slice":
        return number == 0
    if op.name in VIEW_OPS:
        return any(map(_may_read, op.results[0].uses))
    return control_op(op) is not None or is_terminator(op) or op.name in ("func.call", "ipu.place", "ipu.to_shard")


def begun_tensors(module: ir.Operation) -> dict[ir.Value, ir.Value]:
    """Results of ``tensor.insert_slice`` that are empty somewhere, in program order, and the tensor.empty below each.

    Slices count as if they did not overlap.
    """
    begun: dict[ir.Value, ir.Value] = {}
    filled: dict[ir.Value, int] = {}
    for op in list_ops(module, "tensor.insert_slice"):
        slice_type, dest, result = op.operands[0].type, op.operands[1], op.results[0]
        empty = begun.get(dest, dest)
        is_empty = defining_op(empty, "tensor.empty") is not None
        if is_empty and slice_type.has_static_shape and result.type.has_static_shape:
            filled[result] = filled.get(dest, 0) + prod(slice_type.shape)
            if filled[result] < prod(result.type.shape):
                begun[result] = empty
    return begun


def goes_on_filling(use: ir.OpOperand) -> bool:
    """True if ``use`` inserts a slice into the tensor."""
    return use.owner.name == "tensor.insert_slice" and use.operand_number == 1
