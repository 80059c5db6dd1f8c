"""Scalars that tensors without dimensions wrap, and the ops on them."""

from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir


def scalar_op(value: ir.Value) -> tuple[ir.Operation, list[ir.Value]] | None:
    """The op that makes a scalar, wrapped in a tensor or not, and what it works on, without the wraps."""
    op = defining_op(_unwrapped(value))
    return None if op is None else (op, [_unwrapped(operand) for operand in op.operands])


def _unwrapped(value: ir.Value) -> ir.Value:
    """The scalar that ``value`` wraps, or the tensor without dimensions of which it is the element.

    Bodies of structured ops without loops count as scalar code.
    """
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            op, number = owner.owner.operation, ir.BlockArgument(value).arg_number
            if not _is_scalar(op) or number >= len(op.operands) - len(op.results):
                return value
            value = op.operands[number]
        elif owner.name in ("tensor.extract", "tensor.from_elements") and len(owner.operands) == 1:
            value = owner.operands[0]
        elif _is_scalar(owner.operation):
            ends = terminator(owner.operation.regions[0].blocks[0]).operands
            value = ends[ir.OpResult(value).result_number]
        else:
            return value


def _is_scalar(op: ir.Operation) -> bool:
    return op.name == "linalg.generic" and not len(op.attributes["iterator_types"])


def splat_integer(value: ir.Value) -> int | None:
    """The integer that a constant without dimensions holds."""
    attribute = constant_of(value)
    if not isinstance(attribute, ir.DenseIntElementsAttr) or not attribute.is_splat or attribute.type.rank:
        return None
    return ir.IntegerAttr(attribute.get_splat_value()).value
