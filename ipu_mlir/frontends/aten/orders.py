"""Ops that put elements in order, and those that pick by it."""

from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import Made, common_dtype, constant, rule
from ipu_mlir.tracing.functions.orders import argsort_descending, argtop
from ipu_mlir.tracing.graph import Symbol


def _ordered(x: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    if not x.shape:
        return x, constant(0, np.int64)
    places = argsort_descending(x, dim) if descending else np.argsort(x, axis=dim)
    return np.take_along_axis(x, places, dim), places


@rule("sort.default")
def _sort(x: Any, dim: int = -1, descending: bool = False) -> Any:
    return _ordered(x, dim, descending)


@rule("sort.stable")
def _sort_stable(x: Any, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> Any:
    return _ordered(x, dim, descending)


@rule("topk.default")
def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not x.shape:
        values, places = _ordered(x, dim, largest)
        return (values, places) if k else (values[None][:0], places[None][:0])
    places = argtop(x, k, dim, largest).astype(np.int64)
    return np.take_along_axis(x, places, dim), places


@rule("kthvalue.default")
def _kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if not x.shape:
        return _ordered(x, dim, False)
    values, places = _ordered(x, dim, False)
    return tuple(_at(each, constant(k - 1, np.int64), dim, keepdim) for each in (values, places))


def _at(x: Any, place: Any, dim: int, keepdim: bool) -> Any:
    """The elements at ``place`` along ``dim``, a number or one for each row."""
    dim %= len(x.shape)
    shape = tuple(1 if axis == dim else size for axis, size in enumerate(x.shape))
    places = np.broadcast_to(np.reshape(place, place.shape if place.shape else (1,) * len(shape)), shape)
    found = np.take_along_axis(x, places, dim)
    return found if keepdim else np.squeeze(found, dim)


def _median(x: Any, dim: int, keepdim: bool, without_nan: bool) -> tuple[Any, Any]:
    """The lower one of two in the middle; NaN if there is one, unless these are left out."""
    if not x.shape:
        return x, constant(0, np.int64)
    dim %= len(x.shape)
    values, places = _ordered(x, dim, False)
    size = x.shape[dim]
    missing = np.sum((x != x).astype(np.int64), axis=dim, keepdims=True)
    middle = (size - missing - 1) // 2 if without_nan else np.where(missing > 0, size - missing, (size - 1) // 2)
    middle = np.clip(middle, 0, size - 1)
    return _at(values, middle, dim, keepdim), _at(places, middle, dim, keepdim)


@rule("median.default")
def _median_of_all(x: Any) -> Any:
    return _median(np.reshape(x, (-1,)), 0, False, False)[0]


@rule("nanmedian.default")
def _nanmedian_of_all(x: Any) -> Any:
    return _median(np.reshape(x, (-1,)), 0, False, True)[0]


@rule("median.dim")
def _median_along(x: Any, dim: int, keepdim: bool = False) -> Any:
    return _median(x, dim, keepdim, False)


@rule("nanmedian.dim")
def _nanmedian_along(x: Any, dim: int, keepdim: bool = False) -> Any:
    return _median(x, dim, keepdim, True)


@rule("mode.default")
def _mode(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The smallest one of the most frequent elements, and the last place that it has."""
    if not x.shape:
        return x, constant(0, np.int64)
    dim %= len(x.shape)
    rows = np.moveaxis(x, dim, -1)
    values, places = _ordered(rows, -1, False)
    counts = np.sum((values[..., :, None] == values[..., None, :]).astype(np.int32), axis=-1)
    best = np.argmax(counts, axis=-1, keepdims=True)
    last = best + np.take_along_axis(counts, best, -1) - 1
    found = [np.take_along_axis(values, best, -1), np.take_along_axis(places, last, -1)]
    return tuple(np.moveaxis(each, -1, dim) if keepdim else each[..., 0] for each in found)


@rule("searchsorted.Tensor", "searchsorted.Scalar")
def _searchsorted(
    ordered: Any, x: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Any = None
) -> Any:
    dtype = common_dtype([ordered, x])
    if sorter is not None:
        ordered = np.take_along_axis(ordered, sorter, -1)
    ordered, x = ordered.astype(dtype), x.astype(dtype) if isinstance(x, Symbol) else constant(x, dtype)
    after = right or side == "right"
    if len(ordered.shape) == 1:
        return np.searchsorted(ordered, x, "right" if after else "left")
    comes_before = ordered[..., None, :] <= x[..., :, None] if after else ordered[..., None, :] < x[..., :, None]
    return np.sum(comes_before.astype(np.int64), axis=-1)


@rule("bucketize.Tensor")
def _bucketize(x: Any, bounds: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    dtype = common_dtype([bounds, x])
    return np.searchsorted(bounds.astype(dtype), x.astype(dtype), "right" if right else "left")


@rule("histc.default")
def _histc(x: Any, bins: int = 100, min: Any = 0, max: Any = 0, *, made: Made) -> Any:
    """Between the extremes of ``x`` where both bounds are 0; what is outside does not count."""
    x = np.reshape(x, (-1,))
    if min == max:
        low, high = (np.min(x), np.max(x)) if min == 0 else (x.dtype.type(min), x.dtype.type(max))
        low, high = np.where(low == high, low - 1, low), np.where(low == high, high + 1, high)
    else:
        low, high = min, max
    number = np.floor((x - low) / (high - low) * bins).astype(np.int32)
    number = np.where((x >= low) & (x <= high), np.minimum(number, bins - 1), bins)
    empty = constant(np.zeros(bins + 1, made.dtype))
    return empty.at[number].add(constant(np.ones(x.shape, made.dtype)))[:bins]


@rule(
    *(f"{name}.default" for name in ("_linalg_check_errors", "_assert_async", "_assert_scalar")),
    *("_assert_async.msg", "_assert_tensor_metadata.default"),
    *("sym_constrain_range.default", "sym_constrain_range_for_size.default"),
)
def check_of_values(*_: Any, **__: Any) -> Any:
    """A check of values, which has no result."""
    return None
