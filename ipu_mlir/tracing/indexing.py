"""Basic indexing: integers, slices with steps, ``None`` and ``...``, all known while tracing."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.tensor_types import element_type
from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.emit import Backward, Loop, structured
from ipu_mlir.tracing.errors import TraceIndexError, TraceTypeError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.views import reshape

tensor = upstream("tensor")


@dataclass(frozen=True)
class Window:
    """The elements ``start, start + step, ...`` of one dimension, ``count`` of them; ``step`` may be negative."""

    start: int
    step: int
    count: int


def getitem(value: Symbol, key: Any) -> Any:
    """``value[key]`` for a basic ``key``; a list or array of integers picks along one dimension.

    Raises:
        TraceIndexError: out of range, or too many indices. TraceTypeError: an index that is not known while tracing.
    """
    entries = _entries(value, key if isinstance(key, tuple) else (key,))
    windows: list[Window] = []
    shape: list[int] = []
    picks: list[tuple[int, list[int]]] = []
    axis = 0
    for entry in entries:
        if entry is None:
            shape.append(1)
            continue
        size = value.shape[axis]
        if isinstance(entry, slice):
            windows.append(_window(entry, size))
            shape.append(windows[-1].count)
        elif isinstance(entry, list):
            picks.append((len(shape), [_position(value, each, axis) for each in entry]))
            windows.append(Window(0, 1, size))
            shape.append(size)
        else:
            windows.append(Window(_position(value, entry, axis), 1, 1))
        axis += 1
    if len(picks) > 1:
        raise TraceIndexError(
            f"index of {value}: lists at several dimensions are not supported; index one after another"
        )
    if 0 in shape:
        raise TraceIndexError(f"index of {value}: the result of shape {tuple(shape)} would have no elements")
    result = reshape(_slice(value, windows), tuple(shape))
    for place, positions in picks:
        result = take(result, positions, place)
    return result


def take(value: Symbol, positions: Sequence[int], axis: int) -> Any:
    """The elements at ``positions`` along ``axis``, by slices of runs with a constant step."""
    pieces = [_along(value, axis, run) for run in _runs(list(positions))]
    return pieces[0] if len(pieces) == 1 else concatenate(pieces, axis)


def concatenate(parts: Sequence[Symbol], axis: int) -> Any:
    """``parts``, which fit and have one element type, one after the other along ``axis``."""
    first = parts[0]
    total = sum(part.shape[axis] for part in parts)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    with first.trace.emit("concatenate"):
        type_ = ir.RankedTensorType.get(list(shape), element_type(first.dtype))
        op = tensor.concat(type_, axis, [part.value for part in parts])
        return first.trace.wrap(op, shape, first.dtype)


def flip(value: Symbol, axes: Sequence[int]) -> Any:
    """``value`` with its elements along ``axes`` in reverse order."""
    return _reverse(value, axes)


def _entries(value: Symbol, key: tuple[Any, ...]) -> list[Any]:
    """``key`` with ``...`` spelled out: per dimension a slice, an integer or a list, and None for new ones."""
    checked = [_entry(value, each) for each in key]
    used = sum(each is not None and each is not Ellipsis for each in checked)
    rank = len(value.shape)
    if used > rank:
        raise TraceIndexError(f"index of {value}: {used} indices for {rank} dimensions")
    rest = [slice(None)] * (rank - used)
    places = [place for place, each in enumerate(checked) if each is Ellipsis]
    if len(places) > 1:
        raise TraceIndexError(f"index of {value}: only one '...' is possible")
    if places:
        return [*checked[: places[0]], *rest, *checked[places[0] + 1 :]]
    return [*checked, *rest]


def _entry(value: Symbol, entry: Any) -> Any:
    if entry is None or entry is Ellipsis:
        return entry
    if isinstance(entry, slice):
        return slice(
            *(None if each is None else _integer(value, each) for each in (entry.start, entry.stop, entry.step))
        )
    if isinstance(entry, list | np.ndarray) and np.ndim(entry) == 1:
        array = np.asarray(entry)
        if array.dtype == np.bool_:
            array = np.flatnonzero(array)
        return [_integer(value, each) for each in array.tolist()]
    return _integer(value, entry)


def _integer(value: Symbol, entry: Any) -> int:
    if isinstance(entry, Symbol):
        raise TraceTypeError(
            f"index of {value}: the index {entry} is not known while tracing; "
            "use ipu.nn.one_hot(index, n) @ x to select rows, or np.where"
        )
    if isinstance(entry, bool | np.bool_):
        raise TraceTypeError(f"index of {value}: a bool is no index; use np.where to choose between values")
    try:
        return operator.index(entry)
    except TypeError as error:
        raise TraceTypeError(
            f"index of {value}: {type(entry).__name__} {entry!r} is no index; "
            "use integers, slices, None, ... or a list of integers"
        ) from error


def _position(value: Symbol, index: int, axis: int) -> int:
    size = value.shape[axis]
    if not -size <= index < size:
        raise TraceIndexError(f"index of {value}: {index} is out of range for axis {axis} with size {size}")
    return index % size


def _window(entry: slice, size: int) -> Window:
    start, stop, step = entry.indices(size)
    return Window(start, step, len(range(start, stop, step)))


def _runs(positions: list[int]) -> list[Window]:
    """``positions`` as few windows, from the front.

    >>> _runs([0, 1, 2, 7, 5, 3, 9])
    [Window(start=0, step=1, count=3), Window(start=7, step=-2, count=3), Window(start=9, step=1, count=1)]
    """
    runs: list[Window] = []
    for position in positions:
        last = runs[-1] if runs else None
        if last is not None and last.count == 1 and position != last.start:
            runs[-1] = Window(last.start, position - last.start, 2)
        elif last is not None and last.count > 1 and position == last.start + last.step * last.count:
            runs[-1] = Window(last.start, last.step, last.count + 1)
        else:
            runs.append(Window(position, 1, 1))
    return runs


def _along(value: Symbol, axis: int, window: Window) -> Any:
    return _slice(value, [window if each == axis else Window(0, 1, size) for each, size in enumerate(value.shape)])


def _slice(value: Symbol, windows: Sequence[Window]) -> Any:
    """One window per dimension; a backward window is a forward one that is reversed."""
    if all(window == Window(0, 1, size) for window, size in zip(windows, value.shape, strict=True)):
        return value
    forward = [w if w.step > 0 else Window(w.start + w.step * (w.count - 1), -w.step, w.count) for w in windows]
    sizes = tuple(window.count for window in forward)
    sliced = value
    if any(window != Window(0, 1, size) for window, size in zip(forward, value.shape, strict=True)):
        sliced = _extract(value, forward, sizes)
    backward = [axis for axis, window in enumerate(windows) if window.step < 0 and window.count > 1]
    return _reverse(sliced, backward) if backward else sliced


def _extract(value: Symbol, windows: Sequence[Window], sizes: shapes.Shape) -> Any:
    with value.trace.emit("slice"):
        op = tensor.ExtractSliceOp(
            ir.RankedTensorType.get(list(sizes), element_type(value.dtype)),
            value.value,
            [],
            [],
            [],
            [window.start for window in windows],
            list(sizes),
            [window.step if window.count > 1 else 1 for window in windows],
        )
        return value.trace.wrap(op.result, sizes, value.dtype)


def _reverse(value: Symbol, axes: Sequence[int]) -> Any:
    index = tuple(Backward(axis, size) if axis in axes else axis for axis, size in enumerate(value.shape))
    loops = [Loop(size) for size in value.shape]
    order = tuple(range(len(value.shape)))
    return structured(value.trace, "reverse", [(value, index)], loops, order, value.dtype, lambda element, _: element)
