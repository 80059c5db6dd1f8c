"""Ops of StableHLO that passes make, at the current insertion point."""

from collections.abc import Sequence
from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute


def stablehlo_op(
    name: str, type_: ir.Type, operands: Sequence[ir.Value], attributes: dict[str, Any] | None = None
) -> ir.Value:
    """An op with one result."""
    return ir.Operation.create(name, [type_], list(operands), attributes or {}).results[0]


def full(type_: Any, number: float) -> ir.Value:
    """A constant of one number."""
    value = ir.DenseElementsAttr.get_splat(type_, scalar_attribute(type_.element_type, number))
    return stablehlo_op("stablehlo.constant", type_, [], {"value": value})


def transposed(value: ir.Value, order: Sequence[int]) -> ir.Value:
    """``value`` with its dimensions in another order."""
    if list(order) == sorted(order):
        return value
    type_ = ir.RankedTensorType.get([value.type.shape[axis] for axis in order], value.type.element_type)
    return stablehlo_op("stablehlo.transpose", type_, [value], {"permutation": ir.DenseI64ArrayAttr.get(list(order))})


def half_of(pairs: ir.Value, which: int) -> ir.Value:
    """Half ``which`` of the last dimension, of size 2: the real or the imaginary part of pairs."""
    *shape, _ = pairs.type.shape
    element = pairs.type.element_type
    if 0 in shape:  # of which upstream puts a slice outside
        return upstream("tensor").EmptyOp(shape, element).result
    fields = {
        "start_indices": [0] * len(shape) + [which],
        "limit_indices": [*shape, which + 1],
        "strides": [1] * (len(shape) + 1),
    }
    attributes = {name: ir.DenseI64ArrayAttr.get(value) for name, value in fields.items()}
    taken = stablehlo_op("stablehlo.slice", ir.RankedTensorType.get([*shape, 1], element), [pairs], attributes)
    return stablehlo_op("stablehlo.reshape", ir.RankedTensorType.get(shape, element), [taken])
