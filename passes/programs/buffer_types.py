"""The buffers that stand for tensors."""

from collections.abc import Iterable
from math import prod
from typing import Any

from ipu_mlir.dialects.attributes.attributes import MappingAttr, mapping_from_attr
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Refusals


def buffer_type(tensor: Any) -> ir.Type:
    """The buffer that bufferization gives to a tensor of type ``tensor``."""
    return ir.MemRefType.get(
        tensor.shape, tensor.element_type, memory_space=tensor.encoding, loc=ir.Location.unknown(tensor.context)
    )


def refuse_views(ops: Iterable[ir.Operation], refuse: Refusals) -> None:
    """Report every op of ``ops`` that takes part of a tensor, for which no buffer of its own size is there."""
    for op in ops:
        for number, operand in enumerate(op.operands):
            if not isinstance(operand.type, ir.RankedTensorType) or not isinstance(operand.type.encoding, MappingAttr):
                continue
            size, elements = prod(operand.type.shape), mapping_from_attr(operand.type.encoding).elements
            if size != elements:
                refuse(
                    op,
                    f"takes {size} of the {elements} elements of a tensor as operand {number}; copy them first, as "
                    "ipu-materialize-views does",
                )
