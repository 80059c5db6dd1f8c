"""Elements at places that come when the program runs, and choices between tensors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.tracing import views
from ipu_mlir.tracing.elements import reading
from ipu_mlir.tracing.elementwise import astype, where
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import tensor, trace_of


def choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    trace = trace_of((a, *choices))
    place, options = tensor(trace, a), [tensor(trace, each) for each in choices]
    if mode == "wrap":
        place = place % len(options)
    found = options[0]
    for number, option in enumerate(options[1:], start=1):
        found = where(place >= number, option, found) if mode != "wrap" else where(place == number, option, found)
    return views.broadcast_to(found, np.broadcast_shapes(found.shape, place.shape))


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or not len(condlist):
        raise TraceValueError(f"select: {len(condlist)} conditions for {len(choicelist)} choices; give one for each")
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = np.where(condition, choice, found)
    return found


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Every function is called on all of ``x``; the conditions choose."""
    single = isinstance(condlist, Symbol) or (isinstance(condlist, np.ndarray) and condlist.ndim == np.ndim(x))
    conditions = [condlist] if single else list(condlist)
    if not len(conditions) <= len(funclist) <= len(conditions) + 1:
        raise TraceValueError(f"piecewise: {len(funclist)} functions for {len(conditions)} conditions")
    trace = trace_of((x, *conditions))
    x = tensor(trace, x)

    def value_of(function: Any) -> Any:
        found = function(x, *args, **kw) if isinstance(function, Callable) else function  # type: ignore[arg-type]
        return views.broadcast_to(astype(tensor(trace, found, x.dtype), x.dtype), x.shape)

    found = value_of(funclist[-1] if len(funclist) > len(conditions) else 0)
    for condition, function in zip(conditions, funclist, strict=False):
        found = where(condition, value_of(function), found)
    return found


def compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    if isinstance(condition, Symbol):
        raise TraceTypeError(
            f"compress while tracing: its shape would depend on values of {condition}; "
            "use np.where(condition, x, 0), which keeps the shape"
        )
    source = a if axis is not None else views.reshape(a, (-1,))
    along = views.axis_of("compress", source, axis or 0)
    return source[(*(slice(None),) * along, np.flatnonzero(condition))]


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    """With ``mode="raise"``, what is known has to be inside; what is traced is taken for the nearest inside."""
    source = tensor(trace_of((a, indices)), a)
    source = source if axis is not None else views.reshape(source, (-1,))
    along = views.axis_of("take", source, axis or 0)
    if mode not in ("raise", "clip", "wrap"):
        raise TraceValueError(f"np.take while tracing: mode {mode!r} is none of 'raise', 'clip' and 'wrap'")
    places = indices if isinstance(indices, Symbol | int) else np.asarray(indices)
    if mode != "raise":
        size = source.shape[along]
        places = np.clip(places, 0, size - 1) if mode == "clip" else places % size
    return source[(*(slice(None),) * along, places)]


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    trace = trace_of((arr, indices))
    source, places = tensor(trace, arr), tensor(trace, indices)
    if axis is None:
        source, axis = views.reshape(source, (-1,)), 0
    if len(source.shape) != len(places.shape):
        raise TraceValueError(
            f"take_along_axis: the indices have {len(places.shape)} dimensions and the tensor has {len(source.shape)}"
        )
    if places.dtype.kind not in "iu":
        raise TraceTypeError(f"take_along_axis: the indices {places} are no integers; use astype(np.int32)")
    along = views.axis_of("take_along_axis", source, axis)
    return reading.gather_along(source, places, along)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    sizes = [int(each) for each in np.atleast_1d(shape)]
    indices = astype(indices, np.int64)
    found = []
    for size in sizes[::-1] if order == "C" else sizes:
        found.append(indices % size)
        indices = indices // size
    return tuple(found[::-1] if order == "C" else found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Any:
    """With ``mode="raise"``, indices outside of their axes are not noticed."""
    sizes = [int(each) for each in np.atleast_1d(dims)]
    found: Any = 0
    pairs = list(zip(multi_index, sizes, strict=True))
    for index, size in pairs if order == "C" else pairs[::-1]:
        inside = index % size if mode == "wrap" else np.clip(index, 0, size - 1) if mode == "clip" else index
        found = found * size + inside
    return astype(found, np.int64)


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Every vector is one call of ``func1d``, and part of the program by itself."""
    along = views.axis_of("apply_along_axis", arr, axis)
    rest = [each for each in range(len(arr.shape)) if each != along]
    outer = tuple(arr.shape[each] for each in rest)
    rows = views.reshape(views.transpose(arr, [*rest, along]), (-1, arr.shape[along]))
    found = [func1d(rows[place], *args, **kwargs) for place in range(rows.shape[0])]
    together: Any = np.stack(found)
    together = views.reshape(together, (*outer, *together.shape[1:]))
    inner = range(len(outer), len(together.shape))
    order = list(range(len(outer)))
    return views.transpose(together, [*order[:along], *inner, *order[along:]])


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    for axis in np.atleast_1d(axes):
        found = func(a, int(axis))
        a = found if len(found.shape) == len(a.shape) else views.expand_dims(found, int(axis))
    return a
