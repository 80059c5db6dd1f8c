"""Micro-batches as rows of tensors, and the values that the loop of a pipeline begins with."""

from ipu_mlir.dialects.analysis.shards import SHARD, shard_attribute
from ipu_mlir.dialects.ipu import ToShardOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import fill_with, zero

arith, tensor = upstream("arith"), upstream("tensor")


def many(kind: ir.Type, count: int) -> ir.Type:
    """The type of ``count`` tensors of type ``kind``, one upon another."""
    one = ir.RankedTensorType(kind)
    return ir.RankedTensorType.get([count, *one.shape], one.element_type)


def is_float(kind: ir.Type) -> bool:
    """True of a tensor of floats."""
    return isinstance(kind, ir.RankedTensorType) and isinstance(kind.element_type, ir.FloatType)


def filled(kind: ir.Type, number: ir.Value, device: int | None = None) -> ir.Value:
    """A tensor of which every element is ``number``, on an IPU."""
    made = fill_with(number, on(device, tensor.EmptyOp(list(kind.shape), kind.element_type).result)).results[0]
    return on(device, made)


def zeros(kind: ir.Type, device: int | None = None) -> ir.Value:
    """A tensor of zeros, on an IPU."""
    return filled(kind, zero(kind.element_type), device)


def moved(value: ir.Value, device: int) -> ir.Value:
    """``value`` on the IPU ``device``: one that is there stays, and passes after this one know that it is there."""
    return ToShardOp(source=value, shard=shard_attribute(device), moved=value.type).moved


def on(device: int | None, value: ir.Value) -> ir.Value:
    """``value``, which the IPU ``device`` computes; None is any."""
    if device is not None:
        value.owner.operation.attributes[SHARD] = shard_attribute(device)
    return value


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
