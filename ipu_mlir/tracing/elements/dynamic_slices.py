"""Slices that begin at places known only when the program runs: ``dynamic_slice`` and ``dynamic_update_slice``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.tracing.elements.reading import index_of, slice_at, slice_operands
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol, current_trace
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.pairs import as_pairs, from_pairs, is_complex
from ipu_mlir.tracing.structure import is_leaf

tensor_ops = upstream("tensor")


def dynamic_slice(x: Any, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> Any:
    """The elements of ``x`` from ``start_indices`` on, ``slice_sizes`` of them.

    A negative start counts from the end. Where the slice does not fit, it is moved to the nearest place where it does.

    Args:
        x: a tensor, or an array.
        start_indices: an integer, or a traced one, per dimension.
        slice_sizes: of the result.

    Raises:
        TypeError, ValueError: a start is no integer, or the slice is larger than ``x``.
    """
    sizes = tuple(int(size) for size in slice_sizes)
    starts = _starts("dynamic_slice", x, start_indices, sizes)
    trace = current_trace()
    if trace is None or not any(isinstance(each, Symbol) for each in (x, *starts)):
        return np.asarray(x)[_window(x, starts, sizes)]
    value = tensor(trace, x)
    if not any(isinstance(start, Symbol) for start in starts):
        return value[_window(value, starts, sizes)]
    if is_complex(value):
        return from_pairs(dynamic_slice(as_pairs(value), (*starts, 0), (*sizes, 2)))
    with trace.emit("dynamic_slice"):
        return slice_at(value, _offsets(value, starts, sizes), sizes)


def dynamic_update_slice(x: Any, update: Any, start_indices: Sequence[Any]) -> Any:
    """``x`` with ``update`` from ``start_indices`` on; as ``dynamic_slice``, it is moved to where it fits.

    Raises:
        TypeError, ValueError: a start is no integer, or ``update`` is larger than ``x`` or of another type.
    """
    sizes = tuple(np.shape(update))
    starts = _starts("dynamic_update_slice", x, start_indices, sizes)
    trace = current_trace()
    if trace is None or not any(isinstance(each, Symbol) for each in (x, update, *starts)):
        found = np.array(x)
        found[_window(x, starts, sizes)] = update
        return found
    value, new = tensor(trace, x), tensor(trace, update)
    if new.dtype != value.dtype:
        raise TraceTypeError(f"dynamic_update_slice of {value}: update {new} has another type; use astype")
    if is_complex(value):
        return from_pairs(dynamic_update_slice(as_pairs(value), as_pairs(new), (*starts, 0)))
    with trace.emit("dynamic_update_slice"):
        offsets = _offsets(value, starts, sizes)
        op = tensor_ops.InsertSliceOp(new.value, value.value, *slice_operands(offsets, sizes))
        return trace.wrap(op.result, value.shape, value.dtype)


def _starts(name: str, x: Any, starts: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Integers, and traced tensors of one.

    Raises:
        TraceTypeError: a start is something else. TraceValueError: the slice is larger than ``x``.
    """
    shape = tuple(np.shape(x))
    if not len(starts) == len(sizes) == len(shape):
        raise TraceValueError(
            f"{name}: {counted(len(starts), 'start')} and {counted(len(sizes), 'size')} for "
            f"{counted(len(shape), 'dimension')}"
        )
    if any(not 0 <= size <= whole for size, whole in zip(sizes, shape, strict=True)):
        raise TraceValueError(f"{name}: a slice of shape {tuple(sizes)} does not fit into {shape}")
    for start in starts:
        if not (is_leaf(start) or isinstance(start, int)) or np.shape(start) or np.result_type(start).kind not in "iu":
            raise TraceTypeError(f"{name}: a start is one integer, got {start}")
    return [start if isinstance(start, Symbol) else int(start) for start in starts]


def _window(x: Any, starts: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    """The slice that fits, of starts that are known."""
    begins = [_begin(start, size, whole) for start, size, whole in zip(starts, sizes, np.shape(x), strict=True)]
    return tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))


def _begin(start: int, size: int, whole: int) -> int:
    return min(max(start + whole if start < 0 else start, 0), whole - size)


def _offsets(value: Symbol, starts: Sequence[Any], sizes: Sequence[int]) -> list[ir.Value | int]:
    """Where the slice begins, at the current insertion point; what does not fit is moved when the program runs."""
    return [
        index_of(start, [], whole) if isinstance(start, Symbol) else _begin(start, size, whole)
        for start, size, whole in zip(starts, sizes, value.shape, strict=True)
    ]
