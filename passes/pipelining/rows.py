"""Micro-batches as rows of tensors, and the values that the loop of a pipeline begins with."""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import fill_with

arith, tensor = upstream("arith"), upstream("tensor")


def many(kind: ir.Type, count: int) -> ir.Type:
    """The type of ``count`` tensors of type ``kind``, one upon another."""
    one = ir.RankedTensorType(kind)
    return ir.RankedTensorType.get([count, *one.shape], one.element_type)


def is_float(kind: ir.Type) -> bool:
    """True of a tensor of floats."""
    return isinstance(kind, ir.RankedTensorType) and isinstance(kind.element_type, ir.FloatType)


def filled(kind: ir.Type, number: float) -> ir.Value:
    """A tensor of floats of which every element is ``number``."""
    value = arith.ConstantOp(kind.element_type, ir.FloatAttr.get(kind.element_type, number)).result
    return fill_with(value, tensor.EmptyOp(list(kind.shape), kind.element_type).result).results[0]


def read_row(whole: ir.Value, number: ir.Value) -> ir.Value:
    """The row ``number`` of ``whole``."""
    kind = ir.RankedTensorType.get(list(whole.type.shape)[1:], whole.type.element_type)
    return tensor.ExtractSliceOp(kind, whole, [number], [], [], *_row(kind)).result


def write_row(value: ir.Value, whole: ir.Value, number: ir.Value) -> ir.Value:
    """``whole`` with ``value`` for the row ``number``."""
    return tensor.InsertSliceOp(value, whole, [number], [], [], *_row(value.type)).result


def _row(kind: ir.Type) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and steps of a micro-batch in all of them."""
    shape = list(kind.shape)
    return [ir.ShapedType.get_dynamic_stride_or_offset(), *(0 for _ in shape)], [1, *shape], [1] * (len(shape) + 1)
