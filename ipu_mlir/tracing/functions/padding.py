"""``np.pad``."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import element_type
from ipu_mlir.tracing.elementwise import astype
from ipu_mlir.tracing.emit import constant, filled
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.joining import concatenate
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import Scalar, operand
from ipu_mlir.tracing.operands import tensor as as_tensor
from ipu_mlir.tracing.pairs import complex_of, is_complex, part
from ipu_mlir.tracing.views import broadcast_to

tensor = upstream("tensor")

_BY_INDEX = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = ("maximum", "minimum", "mean", "median")


def pad(array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    """``array`` with ``pad_width`` = ``((before, after), ...)`` elements around it, chosen by ``mode`` as in NumPy.

    Raises:
        TraceTypeError: a mode or an option that is not supported. TraceValueError: negative widths.
    """
    widths = _widths(array, pad_width)
    if mode == "constant" and set(options) <= {"constant_values"}:
        return _pad_constants(array, widths, options.get("constant_values", 0))
    if mode == "empty" and not options:
        return pad_with(array, widths, 0)
    for axis, width in enumerate(widths):
        if width != (0, 0):
            array = _pad_axis(array, axis, width, mode, options)
    return array


def pad_with(array: Symbol, widths: list[tuple[int, int]], number: Any) -> Any:
    """``array`` with one number around it."""
    if not any(before or after for before, after in widths):
        return array
    if is_complex(array):
        parts = zip((part(array, 0), part(array, 1)), (np.real(number), np.imag(number)), strict=True)
        return complex_of(*(pad_with(each, widths, its) for each, its in parts))
    number = Scalar(number, weak=not isinstance(number, np.generic)).as_type(array.dtype)
    shape = tuple(before + size + after for size, (before, after) in zip(array.shape, widths, strict=True))
    with array.program.emit("pad"):
        if 0 in array.shape:
            return array.program.wrap(filled(shape, array.dtype, number), shape, array.dtype)
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
            tensor.YieldOp(constant(number, array.dtype))
        return array.program.wrap(op.result, shape, array.dtype)


def _pad_constants(array: Any, widths: list[tuple[int, int]], values: Any) -> Any:
    """One number everywhere, or one for each side of each axis, which may be traced."""
    number = operand(array.program, values) if np.ndim(values) == 0 else None
    if isinstance(number, Scalar):
        return pad_with(array, widths, number.value)
    if number is not None:
        sides: Any = [(values, values)] * len(widths)
    else:
        sides = np.broadcast_to(np.asarray(values), (len(widths), 2))
    for axis, width in enumerate(widths):
        if width != (0, 0):
            array = _between(array, axis, width, *sides[axis])
    return array


def _pad_axis(array: Any, axis: int, width: tuple[int, int], mode: str, options: dict[str, Any]) -> Any:
    before = (slice(None),) * axis
    if mode in _BY_INDEX and options.get("reflect_type", "even") == "even":
        return array[(*before, np.pad(np.arange(array.shape[axis]), [width], mode=mode))]  # type: ignore[call-overload]
    if mode in _STATISTICS and set(options) <= {"stat_length"}:
        lengths = np.broadcast_to(np.asarray(options.get("stat_length") or array.shape[axis]), (len(array.shape), 2))
        statistic = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}[mode]
        first, last = (min(int(length), array.shape[axis]) for length in lengths[axis])
        sides = [array[(*before, slice(None, first))], array[(*before, slice(array.shape[axis] - last, None))]]
        found = [statistic(side, axis=axis, keepdims=True) for side in sides]
        whole = array.dtype.kind in "iub"
        return _between(array, axis, width, *(np.rint(each) if whole and mode[:3] == "mea" else each for each in found))
    if mode == "linear_ramp" and set(options) <= {"end_values"}:
        ends = np.broadcast_to(np.asarray(options.get("end_values", 0)), (len(array.shape), 2))[axis]
        edges = array[(*before, slice(None, 1))], array[(*before, slice(-1, None))]
        shape = (-1, *(1,) * (len(array.shape) - 1 - axis))
        ramps = [np.arange(count).reshape(shape) / max(count, 1) for count in width]
        first = ends[0] + (edges[0] - ends[0]) * ramps[0]
        last = np.flip(ends[1] + (edges[1] - ends[1]) * ramps[1], axis)
        return concatenate([astype(first, array.dtype), array, astype(last, array.dtype)], axis)
    shown = "".join(f", {name}={value!r}" for name, value in options.items())
    raise TraceTypeError(
        f"np.pad while tracing: mode {mode!r}{shown} is not supported; 'constant', 'edge', 'reflect', 'symmetric', "
        "'wrap' and the statistics are, or use np.concatenate"
    )


def _between(array: Any, axis: int, width: tuple[int, int], first: Any, last: Any) -> Any:
    """``array`` with ``first`` and ``last``, each repeated along ``axis``, before and behind it."""
    sides = []
    for count, value in zip(width, (first, last), strict=True):
        shape = tuple(count if place == axis else size for place, size in enumerate(array.shape))
        sides.append(broadcast_to(astype(as_tensor(array.program, value), array.dtype), shape))
    return concatenate([sides[0], array, sides[1]], axis)


def _widths(array: Any, pad_width: Any) -> list[tuple[int, int]]:
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
