"""``ipu-materialize-views``: a copy where memory has to be its own."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.dialects.loop_nest import is_structured
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.named_ops import copy_into
from ipu_mlir.passes.overwritten_views import base_of, is_overwritten
from ipu_mlir.passes.rewriting import is_made_inside, list_ops
from ipu_mlir.passes.tensor_views import VIEW_OPS, window_of


@dataclass(frozen=True)
class MaterializeViews(Pass):
    """Copy where a view cannot show its elements, or must have memory of its own.

    Bufferization would allocate there by itself, but with the mapping of the source, which has another size. What a
    branch hands on must have memory of its own, too, unless all blocks hand on one tensor, updated in place or not: a
    machine has no pointers, and bufferization takes all that a result may be for one memory.

    Needs:  linalg on tensors, after the last ``canonicalize`` (which removes copies between equal types).
    Leaves: views whose elements are evenly spaced in the memory of their source; results of functions, destinations of
            inserted slices and initial values of ops that are no parts of other tensors; no part of a tensor that is
            read after the tensor was updated; results of branches that are new memory or one tensor in all blocks.
    """

    name = "ipu-materialize-views"

    def run(self, module: ir.Operation) -> None:
        for function in list_ops(module, "func.func"):
            for op in list_ops(function, *VIEW_OPS):
                if not (op.results[0].type.has_static_shape and op.operands[0].type.has_static_shape):
                    continue  # ipu-partition refuses it
                if window_of(op.results[0]) is None and window_of(op.operands[0]) is not None:
                    _copy_operand(op, 0)
                elif _is_part_of_another(op.results[0]) and is_overwritten(op):
                    _copy_result(op)
            for op in list_ops(function):
                for number in _owning_operands(op):
                    if _is_part_of_another(op.operands[number]):
                        _copy_operand(op, number)
            for branch in list_ops(function, "scf.if", "scf.index_switch"):
                for number in range(len(branch.results)):
                    _own_result(branch, number)


def _own_result(branch: ir.Operation, number: int) -> None:
    """Copy what the blocks of ``branch`` hand on as a result, unless it is new memory or one tensor in all of them."""
    if not isinstance(branch.results[number].type, ir.RankedTensorType):
        return
    ends = [
        block.operations[len(block.operations) - 1].operation for region in branch.regions for block in region.blocks
    ]
    bases = [base_of(end.operands[number]) for end in ends]
    for end, base in zip(ends, bases, strict=True):
        if any(other != base for other in bases) and not is_made_inside(base, branch):
            _copy_operand(end, number)


def _owning_operands(op: ir.Operation) -> range:
    """The operands that need memory of their own."""
    if op.name in ("func.return", "scf.yield", "scf.condition", "scf.for", "scf.while"):
        return range(len(op.operands))
    if op.name == "tensor.insert_slice":
        return range(1, 2)
    if is_structured(op):
        return range(len(op.operands) - len(op.results), len(op.operands))
    return range(0)


def _is_part_of_another(value: ir.Value) -> bool:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in VIEW_OPS or not value.type.has_static_shape:
        return False
    found = window_of(value)
    return found is None or prod(found[0].type.shape) != prod(value.type.shape)


def _copy_operand(op: ir.Operation, number: int) -> None:
    with ir.InsertionPoint(op), op.location:
        op.operands[number] = _copy(op.operands[number])


def _copy_result(op: ir.Operation) -> None:
    """Copy the result of ``op`` as soon as it is there, for all its users."""
    with ir.InsertionPoint.after(op), op.location:
        copy = _copy(op.results[0])
    op.results[0].replace_all_uses_except(copy, copy.owner.operation)


def _copy(value: ir.Value) -> ir.Value:
    fresh = upstream("tensor").EmptyOp(list(value.type.shape), value.type.element_type).result
    return copy_into(value, fresh).results[0]
