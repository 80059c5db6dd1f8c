"""Numbers outside of tensors: what loops count, what branches are taken on, where slices begin."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import element_type

arith, tensor = upstream("arith"), upstream("tensor")


def number_of(value: ir.Value) -> ir.Value:
    """The number in a tensor without dimensions, at the current insertion point."""
    known = known_number(value)
    return tensor.ExtractOp(value, []).result if known is None else known


def known_number(value: ir.Value) -> ir.Value | None:
    """The number that a tensor without dimensions was made of by ``tensor_of_number``; None for all others."""
    owner = value.owner
    return owner.operands[0] if not isinstance(owner, ir.Block) and owner.name == "tensor.from_elements" else None


def tensor_of_number(value: ir.Value) -> ir.Value:
    """A tensor without dimensions that holds a number, at the current insertion point."""
    return tensor.FromElementsOp(ir.RankedTensorType.get([], value.type), [value]).result


def number_as_index(value: ir.Value) -> ir.Value:
    """An integer, or a bool, as an index; that of a loop's counter is the counter."""
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.name == "arith.index_cast":
        return owner.operands[0]
    cast = arith.index_castui if value.type.width == 1 else arith.index_cast
    return cast(ir.IndexType.get(), value)


def index_as_number(value: ir.Value, dtype: np.dtype[Any]) -> ir.Value:
    """An index as an integer of type ``dtype``."""
    return arith.index_cast(element_type(dtype), value)
