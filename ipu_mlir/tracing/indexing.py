"""Indices that are known while tracing: integers, slices, ``None``, ``...``, and arrays of integers or bools."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import element_type
from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.elementwise import broadcast_index
from ipu_mlir.tracing.emit import Backward, Index, Loop, index_constant, structured, without_elements
from ipu_mlir.tracing.errors import TraceIndexError, TraceTypeError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.views import reshape, transpose

arith, linalg, tensor = upstream("arith"), upstream("linalg"), upstream("tensor")


@dataclass(frozen=True)
class Window:
    """The elements ``start, start + step, ...`` of one dimension, ``count`` of them; ``step`` may be negative."""

    start: int
    step: int
    count: int


_MOST_PIECES = 16
"""Slices that one array of integers may become, for the route of each is fixed; beyond it becomes a gather, for which
the whole dimension lies on every tile that picks from it."""


def getitem(value: Symbol, key: Any) -> Any:
    """``value[key]``, by NumPy's rules; arrays of integers and bools have values that are known.

    Raises:
        TraceIndexError: out of range, too many indices, or masks and arrays of shapes that do not fit.
        TraceTypeError: an index that is not known while tracing, or none at all.
    """
    entries = _entries(value, key if isinstance(key, tuple) else (key,))
    windows: list[Window] = []
    arrays: dict[int, np.ndarray] = {}
    kept: list[list[int | None]] = [[], []]  # dimensions of the result before the arrays and behind; None is a new one
    advanced: list[int] = []
    for number, entry in enumerate(entries):
        axis = len(windows)
        if entry is Ellipsis:
            continue
        if entry is None or isinstance(entry, slice):
            kept[bool(advanced)].append(None if entry is None else axis)
        else:
            advanced.append(number)
        if isinstance(entry, slice):
            windows.append(_window(entry, value.shape[axis]))
        elif isinstance(entry, np.ndarray):
            arrays[axis] = _positions(value, entry, axis)
            windows.append(Window(0, 1, value.shape[axis]))
        elif entry is not None:
            windows.append(Window(_position(value, entry, axis), 1, 1))
    if advanced and advanced[-1] - advanced[0] >= len(advanced):  # something is between: the arrays come first
        kept = [[], kept[0] + kept[1]]
    before, after = kept
    picked = _broadcast(value, list(arrays.values()))
    sizes = [[1 if axis is None else windows[axis].count for axis in axes] for axes in (before, after)]
    shape = (*sizes[0], *picked, *sizes[1])
    if 0 in shape:
        return without_elements(value.trace, "index", shape, value.dtype)
    sliced = _slice(value, windows)
    axes = [axis for axis in before if axis is not None], [axis for axis in after if axis is not None]
    return reshape(_picked(sliced, arrays, picked, *axes) if arrays else sliced, shape)


def _picked(
    value: Symbol, arrays: dict[int, np.ndarray], picked: shapes.Shape, before: list[int], after: list[int]
) -> Any:
    """The elements of ``value`` that ``arrays`` name, of shape ``picked``, between the other dimensions.

    Dimensions that are neither in ``before`` nor in ``after`` and have no array have size 1.
    """
    (axis, array), *others = arrays.items()
    if not others and array.ndim == 1 and len(_runs(array.tolist())) <= _MOST_PIECES:
        rest = [each for each in range(len(value.shape)) if each not in (*before, axis, *after)]
        return transpose(take(value, array.tolist(), axis), [*before, axis, *after, *rest])
    loops = [*(value.shape[each] for each in before), *picked, *(value.shape[each] for each in after)]
    loop_of = {each: loop for loop, each in enumerate(before)}
    loop_of |= {each: loop for loop, each in enumerate(after, start=len(before) + len(picked))}
    inputs = [
        (value.trace.constant(array), _shifted(broadcast_index(array.shape, picked), len(before)))
        for array in arrays.values()
    ]

    def code(*scalars: ir.Value) -> ir.Value:
        numbers = dict(zip(arrays, scalars, strict=False))
        index = [
            arith.index_cast(ir.IndexType.get(), numbers[each])
            if each in arrays
            else linalg.IndexOp(loop_of[each]).result
            if each in loop_of
            else index_constant(0)
            for each in range(len(value.shape))
        ]
        return tensor.ExtractOp(value.value, index).result

    output = tuple(range(len(loops)))
    return structured(value.trace, "index", inputs, [*map(Loop, loops)], output, value.dtype, code)


def _shifted(index: Index, loops: int) -> Index:
    return tuple(loop + loops if isinstance(loop, int) else loop for loop in index)


def take(value: Symbol, positions: Sequence[int], axis: int) -> Any:
    """The elements at ``positions`` along ``axis``, by slices of runs with a constant step."""
    pieces = [_along(value, axis, run) for run in _runs(list(positions))]
    return pieces[0] if len(pieces) == 1 else concatenate(pieces, axis)


def concatenate(parts: Sequence[Symbol], axis: int) -> Any:
    """``parts``, which fit and have one element type, one after the other along ``axis``."""
    first = parts[0]
    total = sum(part.shape[axis] for part in parts)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    if 0 in shape:
        return without_elements(first.trace, "concatenate", shape, first.dtype)
    parts = [part for part in parts if part.shape[axis]]
    if len(parts) == 1:
        return parts[0]
    with first.trace.emit("concatenate"):
        type_ = ir.RankedTensorType.get(list(shape), element_type(first.dtype))
        op = tensor.concat(type_, axis, [part.value for part in parts])
        return first.trace.wrap(op, shape, first.dtype)


def flip(value: Symbol, axes: Sequence[int]) -> Any:
    """``value`` with its elements along ``axes`` in reverse order."""
    return _reverse(value, axes)


def _entries(value: Symbol, key: tuple[Any, ...]) -> list[Any]:
    """``key`` with ``...`` and masks spelled out: per dimension a slice, an integer or an array, and None for new ones.

    ``...`` stays before what it stands for: it is between what is on its sides even where it stands for nothing.
    """
    checked = [_entry(value, each) for each in key]
    rank = len(value.shape)
    used = sum(_dimensions(each) for each in checked)
    if used > rank:
        raise TraceIndexError(f"index of {value}: {used} indices for {rank} dimensions")
    places = [place for place, each in enumerate(checked) if each is Ellipsis]
    if len(places) > 1:
        raise TraceIndexError(f"index of {value}: only one '...' is possible")
    at = places[0] + 1 if places else len(checked)
    checked[at:at] = [slice(None)] * (rank - used)
    found: list[Any] = []
    axis = 0
    for each in checked:
        found += _mask_positions(value, each, axis) if _is_mask(each) else [each]
        axis += _dimensions(each)
    return found


def _dimensions(entry: Any) -> int:
    """How many dimensions an entry of an index is for."""
    if _is_mask(entry):
        return int(entry.ndim)
    return int(entry is not None and entry is not Ellipsis)


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, np.ndarray) and entry.dtype == np.bool_


def _mask_positions(value: Symbol, mask: np.ndarray, axis: int) -> list[np.ndarray]:
    """Where ``mask``, for the dimensions from ``axis`` on, is true: an array of positions per dimension."""
    for number, size in enumerate(mask.shape, start=axis):
        if size != value.shape[number]:
            raise TraceIndexError(
                f"index of {value}: a mask of shape {mask.shape} is for {size} elements of axis {number}, "
                f"which has {value.shape[number]}"
            )
    return list(np.nonzero(mask))


def _entry(value: Symbol, entry: Any) -> Any:
    """``entry`` as a slice, an integer, an array of integers or bools, None or ``...``."""
    if entry is None or entry is Ellipsis:
        return entry
    if isinstance(entry, slice):
        return slice(
            *(None if each is None else _integer(value, each) for each in (entry.start, entry.stop, entry.step))
        )
    if isinstance(entry, list | tuple | np.ndarray) and (traced := _traced_in(entry)) is not None:
        return _integer(value, traced)
    if isinstance(entry, list | tuple | np.ndarray):
        return _array(value, entry)
    return _integer(value, entry)


def _traced_in(entry: Any) -> Symbol | None:
    """A traced tensor among the numbers of ``entry``, however deep."""
    if isinstance(entry, Symbol):
        return entry
    inside = entry if isinstance(entry, list | tuple) else ()
    return next((found for each in inside if (found := _traced_in(each)) is not None), None)


def _array(value: Symbol, entry: Any) -> np.ndarray | int:
    """An array of integers or bools; one without dimensions is an integer."""
    try:
        array = np.asarray(entry)
    except ValueError as error:
        raise TraceIndexError(f"index of {value}: {entry!r} is no array; its rows differ in length") from error
    if not array.size and not isinstance(entry, np.ndarray):
        array = array.astype(np.int64)  # an empty list
    if not array.ndim or array.dtype.kind not in "iub":
        return _integer(value, array[()] if not array.ndim else array.ravel()[0])
    return array if array.dtype == np.bool_ else array.astype(np.int64)


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
            "use integers, slices, None, ... or arrays of integers or bools"
        ) from error


def _position(value: Symbol, index: int, axis: int) -> int:
    size = value.shape[axis]
    if not -size <= index < size:
        raise TraceIndexError(f"index of {value}: {index} is out of range for axis {axis} with size {size}")
    return index % size


def _positions(value: Symbol, array: np.ndarray, axis: int) -> np.ndarray:
    """The indices of ``array`` counted from the front, as small numbers as hold them."""
    size = value.shape[axis]
    outside = array[(array < -size) | (array >= size)]
    if outside.size:
        _position(value, int(outside.flat[0]), axis)
    return (array % size).astype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)


def _broadcast(value: Symbol, arrays: Sequence[np.ndarray]) -> shapes.Shape:
    """The shape that ``arrays``, which index together, broadcast to."""
    try:
        return shapes.broadcast_shapes([array.shape for array in arrays]) if arrays else ()
    except ValueError as error:
        raise TraceIndexError(f"index of {value}: the arrays of its index: {error}") from error


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
