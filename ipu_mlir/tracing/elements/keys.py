"""What stands in the brackets of ``x[...]``: which elements it selects, in which shape."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.errors import TraceIndexError, TraceTypeError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.indexing import Window
from ipu_mlir.tracing.operands import known_values

Array = np.ndarray | Symbol
"""Positions along a dimension; those of a traced tensor may be negative or outside."""


@dataclass(frozen=True)
class Selection:
    """Elements of a tensor, by NumPy's rules.

    Attributes:
        windows: the elements of each dimension that take part, all of them where ``arrays`` picks some.
        arrays: by dimension the positions that are picked; they broadcast to ``picked``.
        before: the dimensions of the result before those of ``picked``, and
        after: behind; each is that of a window, or None where it is new and has size 1.
        shape: of the result.
    """

    windows: tuple[Window, ...]
    arrays: dict[int, Array]
    before: tuple[int | None, ...]
    after: tuple[int | None, ...]
    picked: shapes.Shape
    shape: shapes.Shape

    @property
    def axes(self) -> tuple[list[int], list[int]]:
        """The dimensions before ``picked`` and behind, without new ones."""
        before, after = ([axis for axis in axes if axis is not None] for axes in (self.before, self.after))
        return before, after


def selection(value: Symbol, key: Any) -> Selection:
    """The elements that ``value[key]`` selects.

    Raises:
        TraceIndexError: out of range, too many indices, or masks and arrays of shapes that do not fit.
        TraceTypeError: an index whose number of elements is not known while tracing, or none at all.
    """
    windows: list[Window] = []
    arrays: dict[int, Array] = {}
    kept: list[list[int | None]] = [[], []]
    advanced: list[int] = []
    for number, entry in enumerate(_entries(value, key if isinstance(key, tuple) else (key,))):
        axis = len(windows)
        if entry is Ellipsis:
            continue
        if entry is None or isinstance(entry, slice):
            kept[bool(advanced)].append(None if entry is None else axis)
        else:
            advanced.append(number)
        if isinstance(entry, slice):
            windows.append(_window(entry, value.shape[axis]))
        elif isinstance(entry, np.ndarray | Symbol):
            if isinstance(entry, Symbol) and not value.shape[axis]:
                raise TraceIndexError(f"index of {value}: axis {axis} has no elements for {entry}")
            arrays[axis] = entry if isinstance(entry, Symbol) else _positions(value, entry, axis)
            windows.append(Window(0, 1, value.shape[axis]))
        elif entry is not None:
            windows.append(Window(_position(value, entry, axis), 1, 1))
    if advanced and advanced[-1] - advanced[0] >= len(advanced):  # something is between: the arrays come first
        kept = [[], kept[0] + kept[1]]
    picked = _broadcast(value, list(arrays.values()))
    sizes = [[1 if axis is None else windows[axis].count for axis in axes] for axes in kept]
    shape = (*sizes[0], *picked, *sizes[1])
    return Selection(tuple(windows), arrays, tuple(kept[0]), tuple(kept[1]), picked, shape)


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
    """The number of dimensions that an entry of an index is for."""
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
    """``entry`` as a slice, an integer, an array of integers or bools, a traced tensor of integers, None or ``...``."""
    if entry is None or entry is Ellipsis:
        return entry
    if isinstance(entry, slice):
        return slice(*(None if each is None else _bound(value, each) for each in (entry.start, entry.stop, entry.step)))
    if isinstance(entry, Symbol):
        return _traced(value, entry)
    entry = known_values(entry)
    if isinstance(entry, list | tuple) and _has_traced(entry):
        return _traced(value, _stacked(entry))
    if isinstance(entry, list | tuple | np.ndarray):
        return _array(value, entry)
    return _integer(value, entry)


def _traced(value: Symbol, entry: Any) -> Symbol:
    """A traced tensor of integers."""
    if entry.dtype.kind == "b" and entry.shape:
        raise TraceTypeError(
            f"index of {value}: how many elements the mask {entry} selects is not known while tracing; "
            "use np.where(mask, x, other), or x.at[mask].set(value) to change them"
        )
    if entry.dtype.kind not in "iu":
        raise TraceTypeError(f"index of {value}: {entry} is no index; use integers: astype(np.int32)")
    return entry


def _has_traced(entry: Any) -> bool:
    """True if a traced tensor is among the numbers of ``entry``, however deep."""
    if isinstance(entry, list | tuple):
        return any(map(_has_traced, entry))
    return isinstance(entry, Symbol)


def _stacked(entry: Any) -> Any:
    """Nested lists with traced tensors in them as one tensor."""
    return np.stack([_stacked(each) for each in entry]) if isinstance(entry, list | tuple) else entry


def _bound(value: Symbol, bound: Any) -> int:
    if isinstance(bound, Symbol):
        raise TraceTypeError(
            f"index of {value}: how many elements a slice to or from {bound} has is not known while tracing; "
            "use ipu.dynamic_slice(x, starts, sizes)"
        )
    return _integer(value, bound)


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


def _broadcast(value: Symbol, arrays: Sequence[Array]) -> shapes.Shape:
    """The shape that ``arrays``, which index together, broadcast to."""
    try:
        return shapes.broadcast_shapes([array.shape for array in arrays]) if arrays else ()
    except ValueError as error:
        raise TraceIndexError(f"index of {value}: the arrays of its index: {error}") from error


def _window(entry: slice, size: int) -> Window:
    start, stop, step = entry.indices(size)
    return Window(start, step, len(range(start, stop, step)))
