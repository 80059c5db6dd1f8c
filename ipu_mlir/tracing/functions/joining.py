"""Tensors put together, taken apart, and repeated."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ipu_mlir.tracing import indexing, views
from ipu_mlir.tracing.elementwise import astype
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol, supported_dtype
from ipu_mlir.tracing.operands import common_dtype, tensor, trace_of


def concatenate(arrays: Sequence[Any], axis: int | None = 0, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    parts = _in_one_type(arrays, dtype)
    if axis is None:
        parts, axis = [views.reshape(each, (-1,)) for each in parts], 0
    along = views.axis_of("concatenate", parts[0], axis)
    first = parts[0].shape
    for each in parts[1:]:
        rest = (*each.shape[:along], *first[along : along + 1], *each.shape[along + 1 :])
        if rest != first or len(each.shape) != len(first):
            shown = " and ".join(map(str, parts))
            raise TraceValueError(f"concatenate of {shown}: all sizes but those of axis {along} have to be equal")
    return parts[0] if len(parts) == 1 else indexing.concatenate(parts, along)


def stack(arrays: Sequence[Any], axis: int = 0, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return concatenate([views.expand_dims(each, axis) for each in _in_one_type(arrays, dtype)], axis)


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return concatenate([atleast_2d(each) for each in _in_one_type(tup, dtype)], 0)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Any:
    parts = [atleast_1d(each) for each in _in_one_type(tup, dtype)]
    return concatenate(parts, min(1, len(parts[0].shape) - 1))


def dstack(tup: Sequence[Any]) -> Any:
    return concatenate([atleast_3d(each) for each in _in_one_type(tup)], 2)


def column_stack(tup: Sequence[Any]) -> Any:
    return concatenate([each if len(each.shape) > 1 else atleast_2d(each).T for each in _in_one_type(tup)], 1)


def block(arrays: Any) -> Any:
    """Nested lists: the innermost tensors side by side along the last axis, lists around them along the one before."""
    trace = trace_of(_leaves(arrays))

    def depth(each: Any) -> int:
        return 1 + max(map(depth, each)) if isinstance(each, list) else 0

    deep = depth(arrays)
    rank = max([deep, *(np.ndim(each) for each in _leaves(arrays))])

    def joined(each: Any, level: int) -> Any:
        if not isinstance(each, list):
            value = tensor(trace, each)
            return views.reshape(value, (*(1,) * (rank - len(value.shape)), *value.shape))
        return concatenate([joined(inner, level + 1) for inner in each], rank - deep + level)

    return joined(arrays, 0)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    return concatenate(_tensors((arr, values)), axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """``obj`` is known: an integer, a slice, or integers before which ``values`` stand."""
    trace = trace_of((arr, obj, values))
    arr, values = tensor(trace, arr), astype(tensor(trace, values), _dtype(trace, arr))
    if axis is None:
        arr, axis = views.reshape(arr, (-1,)), 0
    along = views.axis_of("insert", arr, axis)
    size = arr.shape[along]
    places = np.arange(size)[obj] if isinstance(obj, slice) else _known("insert", obj)
    places = places.astype(np.int64)
    if places.size and not (places.min() >= -size and places.max() <= size):
        raise TraceValueError(f"insert into {arr}: the places {places.tolist()} are not all within axis {along}")
    places = np.where(places < 0, places + size, places)
    rest = tuple(each for number, each in enumerate(arr.shape) if number != along)
    if not places.ndim:  # NumPy moves the first axis of values to where the place is
        spread = views.reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
        moved = np.moveaxis(spread, 0, along)
        places = np.repeat(places, moved.shape[along])
    else:
        moved = values
    shape = (*rest[:along], places.size, *rest[along:])
    given = views.broadcast_to(moved, shape)
    order = np.argsort(places, kind="stable")
    merged = np.insert(np.arange(size), places[order], size + order)
    return concatenate([arr, given], along)[(*(slice(None),) * along, merged)]


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """``obj`` is known: an integer, a slice, integers, or a mask."""
    if axis is None:
        arr, axis = views.reshape(arr, (-1,)), 0
    along = views.axis_of("delete", arr, axis)
    kept = np.delete(np.arange(arr.shape[along]), obj if isinstance(obj, slice) else _known("delete", obj))
    return arr[(*(slice(None),) * along, kept)]


def split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    along = views.axis_of("split", ary, axis)
    size = ary.shape[along]
    if np.ndim(indices_or_sections) == 0 and size % int(indices_or_sections):  # type: ignore[arg-type]
        raise TraceValueError(f"split of {ary}: axis {along} does not divide into {indices_or_sections} equal parts")
    return array_split(ary, indices_or_sections, along)


def array_split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    along = views.axis_of("array_split", ary, axis)
    size = ary.shape[along]
    if np.ndim(indices_or_sections) == 0:
        count = int(indices_or_sections)  # type: ignore[arg-type]
        if count < 1:
            raise TraceValueError(f"array_split of {ary}: {count} parts are none; give 1 or more")
        each, larger = divmod(size, count)
        bounds = np.cumsum([0] + [each + 1] * larger + [each] * (count - larger)).tolist()
    else:
        bounds = [0, *_known("split", indices_or_sections).tolist(), size]
    before = (slice(None),) * along
    return [ary[(*before, slice(start, stop))] for start, stop in pairwise(bounds)]


def hsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[Any]:
    return split(ary, indices_or_sections, min(1, ary.ndim - 1))


def vsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[Any]:
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: int | Sequence[int]) -> list[Any]:
    return split(ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    along = views.axis_of("unstack", x, axis)
    return tuple(x[(*(slice(None),) * along, place)] for place in range(x.shape[along]))


def tile(A: Any, reps: int | Sequence[int]) -> Any:
    counts = [int(each) for each in np.atleast_1d(_known("tile", reps))]
    rank = max(len(counts), A.ndim)
    counts = [1] * (rank - len(counts)) + counts
    sizes = [1] * (rank - A.ndim) + list(A.shape)
    spread = views.reshape(A, [each for size in sizes for each in (1, size)])
    wide = views.broadcast_to(spread, [each for pair in zip(counts, sizes, strict=True) for each in pair])
    return views.reshape(wide, [count * size for count, size in zip(counts, sizes, strict=True)])


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    if axis is None:
        a, axis = views.reshape(a, (-1,)), 0
    along = views.axis_of("repeat", a, axis)
    counts = _known("repeat", repeats)
    if counts.ndim == 0:  # every element as often
        wide: Any = np.broadcast_to(
            views.expand_dims(a, along + 1), (*a.shape[: along + 1], int(counts), *a.shape[along + 1 :])
        )
        return views.reshape(wide, (*a.shape[:along], a.shape[along] * int(counts), *a.shape[along + 1 :]))
    return a[(*(slice(None),) * along, np.repeat(np.arange(a.shape[along]), counts))]


def resize(a: Any, new_shape: int | Sequence[int]) -> Any:
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    flat, wanted = views.reshape(a, (-1,)), int(np.prod(shape))
    if not flat.shape[0]:
        return views.broadcast_to(tensor(a.program, np.zeros((), a.dtype)), shape)
    return views.reshape(tile(flat, -(-wanted // flat.shape[0]))[:wanted], shape)


def atleast_1d(*arys: Any) -> Any:
    return _each(arys, lambda value: value if value.shape else views.reshape(value, (1,)))


def atleast_2d(*arys: Any) -> Any:
    return _each(arys, lambda value: value if len(value.shape) > 1 else views.reshape(value, (1, -1)))


def atleast_3d(*arys: Any) -> Any:
    def raised(value: Symbol) -> Any:
        if len(value.shape) > 2:
            return value
        return views.reshape(value, (*value.shape, 1) if len(value.shape) == 2 else (1, -1, 1))

    return _each(arys, raised)


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*(np.shape(each) for each in args))
    return tuple(views.broadcast_to(each, shape) for each in _tensors(args))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    if indexing not in ("xy", "ij"):
        raise TraceValueError(f"meshgrid: indexing is 'xy' or 'ij', got {indexing!r}")
    rank = len(xi)
    places = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    spread = [
        views.reshape(each, [-1 if axis == place else 1 for axis in range(rank)])
        for place, each in zip(places, _tensors(xi), strict=True)
    ]
    return tuple(spread) if sparse else broadcast_arrays(*spread)


def _tensors(values: Sequence[Any]) -> list[Any]:
    trace = trace_of(values)
    return [tensor(trace, each) for each in values]


def _in_one_type(values: Sequence[Any], dtype: Any = None) -> list[Any]:
    """``values`` as tensors of ``dtype``, or of their common type, which views of what is outside would not tell."""
    parts = _tensors(values)
    common = common_dtype(parts) if dtype is None else supported_dtype(dtype)
    return [astype(each, common) for each in parts]


def _each(values: Sequence[Any], change: Any) -> Any:
    found = tuple(map(change, _tensors(values)))
    return found[0] if len(found) == 1 else found


def _leaves(nested: Any) -> list[Any]:
    return [leaf for each in nested for leaf in _leaves(each)] if isinstance(nested, list) else [nested]


def _dtype(trace: Any, value: Any) -> Any:
    return tensor(trace, value).dtype


def _known(name: str, value: Any) -> np.ndarray:
    """``value``, which decides a shape, as an array.

    Raises:
        TraceTypeError: it is traced.
    """
    if isinstance(value, Symbol):
        raise TraceTypeError(
            f"{name} while tracing: the shape would depend on the values of {value}; give known numbers"
        )
    return np.asarray(value)
