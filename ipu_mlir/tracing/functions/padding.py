"""``np.pad`` with constants."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import element_type
from ipu_mlir.tracing.emit import constant, filled
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import Scalar, operand

tensor = upstream("tensor")


def pad(array: Symbol, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """``array`` with ``pad_width`` = ``((before, after), ...)`` elements of one value around it.

    Raises:
        TraceTypeError: another mode, or values that differ or are traced. TraceValueError: negative widths.
    """
    if mode != "constant":
        raise TraceTypeError(f"np.pad while tracing: mode {mode!r} is not supported; 'constant' is, or use concatenate")
    value = operand(array.trace, constant_values)
    if not isinstance(value, Scalar):
        raise TraceTypeError(f"np.pad of {array}: constant_values has to be one number")
    widths = _widths(array, pad_width)
    if not any(before or after for before, after in widths):
        return array
    shape = tuple(before + size + after for size, (before, after) in zip(array.shape, widths, strict=True))
    if 0 in array.shape:
        with array.trace.emit("pad"):
            return array.trace.wrap(filled(shape, array.dtype, value.as_type(array.dtype)), shape, array.dtype)
    with array.trace.emit("pad"):
        op = tensor.PadOp(
            ir.RankedTensorType.get(list(shape), element_type(array.dtype)),
            array.value,
            [],
            [],
            [before for before, _ in widths],
            [after for _, after in widths],
        )
        index = ir.IndexType.get()
        block = op.regions[0].blocks.append(*[index] * len(shape), arg_locs=[op.location] * len(shape))
        with ir.InsertionPoint(block):
            tensor.YieldOp(constant(value.as_type(array.dtype), array.dtype))
        return array.trace.wrap(op.result, shape, array.dtype)


def _widths(array: Symbol, pad_width: Any) -> list[tuple[int, int]]:
    rank = len(array.shape)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(axis, pad_width.get(axis - rank, 0)) for axis in range(rank)]
        pad_width = [(each, each) if isinstance(each, int) else each for each in pad_width]
    try:
        widths = np.broadcast_to(np.asarray(pad_width), (rank, 2)).tolist()
    except ValueError as error:
        raise TraceValueError(f"np.pad of {array}: the widths {pad_width} are not one pair per dimension") from error
    if any(not isinstance(width, int) or width < 0 for pair in widths for width in pair):
        raise TraceValueError(f"np.pad of {array}: the widths {pad_width} have to be integers that are not negative")
    return [(before, after) for before, after in widths]
