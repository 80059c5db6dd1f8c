"""NumPy's functions on traced tensors, under NumPy's names and parameters.

``FUNCTIONS`` maps the function of NumPy to ours; parameters that ours lacks are not supported while tracing.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ipu_mlir.tracing import indexing, views
from ipu_mlir.tracing.elements import reading
from ipu_mlir.tracing.elementwise import astype, where
from ipu_mlir.tracing.emit import filled
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError, located
from ipu_mlir.tracing.functions import contractions, reductions
from ipu_mlir.tracing.functions.padding import pad
from ipu_mlir.tracing.functions.ways_out import numpy_name, way_out
from ipu_mlir.tracing.graph import Symbol, supported_dtype
from ipu_mlir.tracing.operands import common_dtype, operand, tensor, trace_of


def call(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """``function(*args, **kwargs)`` of NumPy, where some arguments are traced tensors.

    Raises:
        TraceTypeError: the function, or one of the parameters given, is not supported.
    """
    ours = FUNCTIONS.get(function)
    name = f"np.{numpy_name(function)}"
    if ours is None:
        supported = (each.__name__ for each in FUNCTIONS)
        raise TraceTypeError(f"{name} is not supported while tracing; {way_out(name[3:], supported)}")
    try:
        bound = inspect.signature(ours).bind(*args, **kwargs)
    except TypeError as error:
        raise TraceTypeError(f"{name} while tracing: {error}; it takes {inspect.signature(ours)}") from error
    return located(name, ours, *bound.args, **bound.kwargs)


def _reduction(name: str) -> Callable[..., Any]:
    def reduction(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        return reductions.reduce(name, a, axis, keepdims, dtype)

    def extremum(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        return reductions.reduce(name, a, axis, keepdims)

    return reduction if name in ("sum", "prod") else extremum


def _argument(name: str) -> Callable[..., Any]:
    def argument(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
        return reductions.arg_extremum(name, a, axis, keepdims)

    return argument


def mean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    return reductions.mean(a, axis, keepdims, dtype)


def var(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: int = 0, correction: int = 0, keepdims: bool = False
) -> Any:
    return reductions.variance(a, axis, keepdims, dtype, ddof or correction)


def std(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: int = 0, correction: int = 0, keepdims: bool = False
) -> Any:
    return np.sqrt(var(a, axis, dtype, ddof=ddof, correction=correction, keepdims=keepdims))


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    raised = a if low is None else np.maximum(a, low)
    return raised if high is None else np.minimum(raised, high)


def numpy_where(condition: Any, x: Any, y: Any) -> Any:
    return where(condition, x, y)


def concatenate(arrays: Sequence[Any], axis: int | None = 0, *, dtype: Any = None) -> Any:
    trace = trace_of(arrays)
    parts = [tensor(trace, each) for each in arrays]
    common = supported_dtype(dtype) if dtype is not None else common_dtype(parts)
    parts = [astype(each, common) for each in parts]
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


def stack(arrays: Sequence[Any], axis: int = 0, *, dtype: Any = None) -> Any:
    trace = trace_of(arrays)
    return concatenate([views.expand_dims(tensor(trace, each), axis) for each in arrays], axis, dtype=dtype)


def split(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Any]:
    along = views.axis_of("split", ary, axis)
    size = ary.shape[along]
    if isinstance(indices_or_sections, int):
        if size % indices_or_sections:
            raise TraceValueError(
                f"split of {ary}: axis {along} does not divide into {indices_or_sections} equal parts"
            )
        step = size // indices_or_sections
        bounds = list(range(0, size + 1, step))
    else:
        bounds = [0, *indices_or_sections, size]
    before = (slice(None),) * along
    return [ary[(*before, slice(start, stop))] for start, stop in pairwise(bounds)]


def reshape(a: Any, /, shape: Any, order: str = "C") -> Any:
    if order != "C":
        raise TraceTypeError(f"np.reshape while tracing: order {order!r} is not supported; transpose first")
    return views.reshape(a, shape)


def moveaxis(a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    moved = [views.axis_of("moveaxis", a, each) for each in np.atleast_1d(source)]
    places = [views.axis_of("moveaxis", a, each) for each in np.atleast_1d(destination)]
    order = [axis for axis in range(len(a.shape)) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return views.transpose(a, order)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    one, two = views.axis_of("swapaxes", a, axis1), views.axis_of("swapaxes", a, axis2)
    order = list(range(len(a.shape)))
    order[one], order[two] = two, one
    return views.transpose(a, order)


def matrix_transpose(x: Any, /) -> Any:
    return swapaxes(x, -1, -2)


def flip(m: Any, axis: Any = None) -> Any:
    return indexing.flip(m, reductions.axes_of("flip", m, axis))


def roll(a: Any, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Any:
    if np.ndim(shift) or np.ndim(axis):
        if axis is None:
            return roll(a, int(np.sum(shift)))
        try:
            pairs = np.broadcast(shift, axis)
        except ValueError as error:
            raise TraceValueError(f"roll of {a}: the shifts {shift} do not go with the axes {axis}") from error
        for each, along in pairs:
            a = roll(a, int(each), int(along))
        return a
    if axis is None:
        return views.reshape(roll(views.reshape(a, (-1,)), shift, 0), a.shape)
    along = views.axis_of("roll", a, axis)
    cut = -shift % max(a.shape[along], 1)
    before = (slice(None),) * along
    if cut == 0:
        return a
    return concatenate([a[(*before, slice(cut, None))], a[(*before, slice(None, cut))]], along)


def take(a: Any, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Any:
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


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    if isinstance(fill_value, Symbol) or np.ndim(fill_value):
        return views.broadcast_to(astype(fill_value, dtype or a.dtype), shape or a.shape)
    sizes = a.shape if shape is None else tuple(np.atleast_1d(shape).tolist())
    result = supported_dtype(dtype or a.dtype)
    with a.trace.emit("full_like"):
        return a.trace.wrap(filled(sizes, result, np.asarray(fill_value).astype(result)[()]), sizes, result)


def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    return full_like(a, 0, dtype, shape=shape)


def ones_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    return full_like(a, 1, dtype, shape=shape)


def tril(m: Any, k: int = 0) -> Any:
    return where(np.tri(*m.shape[-2:], k=k, dtype=np.bool_), m, 0)


def triu(m: Any, k: int = 0) -> Any:
    return where(np.tri(*m.shape[-2:], k=k - 1, dtype=np.bool_), 0, m)


def around(a: Any, decimals: int = 0) -> Any:
    if a.dtype.kind != "f" and decimals >= 0:
        return a
    return np.rint(a) if decimals == 0 else np.rint(a * 10.0**decimals) / 10.0**decimals


def nan_to_num(x: Any, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    if x.dtype.kind != "f":
        return x
    limits = np.finfo(x.dtype)
    high, low = float(limits.max) if posinf is None else posinf, float(limits.min) if neginf is None else neginf
    return where(x == np.inf, high, where(x == -np.inf, low, where(np.isnan(x), nan, x)))


def outer(a: Any, b: Any) -> Any:
    trace = trace_of((a, b))
    left, right = (views.reshape(tensor(trace, each), (-1,)) for each in (a, b))
    return left[:, None] * right[None, :]


def inner(a: Any, b: Any) -> Any:
    return contractions.tensordot(a, b, ([-1], [-1])) if np.ndim(a) and np.ndim(b) else a * b


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    trace = trace_of(arrays_and_dtypes)
    kinds = [each for each in arrays_and_dtypes if isinstance(each, np.dtype | type | str)]
    values = [operand(trace, each) for each in arrays_and_dtypes if not isinstance(each, np.dtype | type | str)]
    return np.result_type(common_dtype(values), *kinds)


def _astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    return astype(x, dtype)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **{getattr(np, name): _reduction(name) for name in ("sum", "prod", "max", "min", "any", "all")},
    **{getattr(np, name): _argument(name) for name in ("argmax", "argmin")},
    np.mean: mean,
    np.var: var,
    np.std: std,
    np.clip: clip,
    np.where: numpy_where,
    np.concatenate: concatenate,
    np.stack: stack,
    np.split: split,
    np.reshape: reshape,
    np.ravel: lambda a: views.reshape(a, (-1,)),
    np.transpose: lambda a, axes=None: views.transpose(a, axes),
    np.matrix_transpose: matrix_transpose,
    np.moveaxis: moveaxis,
    np.swapaxes: swapaxes,
    np.expand_dims: lambda a, axis: views.expand_dims(a, axis),
    np.squeeze: lambda a, axis=None: views.squeeze(a, axis),
    np.broadcast_to: lambda array, shape: views.broadcast_to(array, shape),
    np.flip: flip,
    np.roll: roll,
    np.take: take,
    np.take_along_axis: take_along_axis,
    np.pad: pad,
    np.full_like: full_like,
    np.zeros_like: zeros_like,
    np.ones_like: ones_like,
    np.tril: tril,
    np.triu: triu,
    np.round: around,
    np.around: around,
    np.nan_to_num: nan_to_num,
    np.dot: contractions.dot,
    np.inner: inner,
    np.outer: outer,
    np.tensordot: contractions.tensordot,
    np.einsum: contractions.einsum,
    np.astype: _astype,
    np.result_type: result_type,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: len(a.shape),
    np.size: lambda a: a.size,
}
