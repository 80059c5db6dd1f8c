"""Sums, extremes, means and the like, and the same without NaN."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.specs.tensor_types import kind_of, limits_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.elementwise import astype, conjugated
from ipu_mlir.tracing.elementwise import where as _where
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions import reductions
from ipu_mlir.tracing.functions.reductions import Axes, axes_of, count_along
from ipu_mlir.tracing.operands import common_dtype, common_float, tensor, trace_of


def sum(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    return _with_initial(np.add, reductions.reduce("sum", _chosen(a, where, 0), axis, keepdims, dtype), initial)


def prod(
    a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    return _with_initial(np.multiply, reductions.reduce("prod", _chosen(a, where, 1), axis, keepdims, dtype), initial)


def max(a: Any, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    return _extreme("max", np.maximum, a, axis, keepdims, initial, where)


def min(a: Any, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    return _extreme("min", np.minimum, a, axis, keepdims, initial, where)


amax, amin = max, min


def any(a: Any, axis: Axes = None, *, keepdims: bool = False, where: Any = True) -> Any:
    return reductions.reduce("any", _chosen(a, where, False), axis, keepdims)


def all(a: Any, axis: Axes = None, *, keepdims: bool = False, where: Any = True) -> Any:
    return reductions.reduce("all", _chosen(a, where, True), axis, keepdims)


def argmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    return reductions.arg_extremum("argmax", a, axis, keepdims)


def argmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    return reductions.arg_extremum("argmin", a, axis, keepdims)


def count_nonzero(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    return reductions.reduce("sum", astype(a, np.bool_), axis, keepdims)


def ptp(a: Any, axis: Axes = None, *, keepdims: bool = False) -> Any:
    return reductions.reduce("max", a, axis, keepdims) - reductions.reduce("min", a, axis, keepdims)


def mean(a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, where: Any = True) -> Any:
    if where is True:
        return reductions.mean(a, axis, keepdims, dtype)
    total = reductions.mean(_chosen(a, where, 0), axis, keepdims, dtype) * count_along(a, axes_of("mean", a, axis))
    return total / astype(_how_many(a, where, axis, keepdims), total.dtype)


def var(
    a: Any,
    axis: Axes = None,
    dtype: Any = None,
    *,
    ddof: float = 0,
    correction: float = 0,
    keepdims: bool = False,
    mean: Any = None,
    where: Any = True,
) -> Any:
    less = ddof or correction
    if where is True and mean is None:
        return reductions.variance(a, axis, keepdims, dtype, less)
    middle = _mean(a, axis, dtype, keepdims=True, where=where) if mean is None else mean
    squares = np.square(a - middle)
    total = reductions.reduce("sum", _chosen(squares, where, 0), axis, keepdims)
    return total / np.maximum(astype(_how_many(a, where, axis, keepdims), total.dtype) - less, 0)


_mean = mean


def std(
    a: Any,
    axis: Axes = None,
    dtype: Any = None,
    *,
    ddof: float = 0,
    correction: float = 0,
    keepdims: bool = False,
    mean: Any = None,
    where: Any = True,
) -> Any:
    return np.sqrt(var(a, axis, dtype, ddof=ddof, correction=correction, keepdims=keepdims, mean=mean, where=where))


def average(a: Any, axis: Axes = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    trace = trace_of((a, weights))
    a = tensor(trace, a)
    if weights is None:
        found = reductions.mean(a, axis, keepdims)
        scale = tensor(trace, np.asarray(count_along(a, axes_of("average", a, axis)), found.dtype))
    else:
        weights = tensor(trace, weights)
        if weights.shape != a.shape:
            axes = axes_of("average", a, axis)
            if axis is None or weights.shape != tuple(a.shape[each] for each in axes):
                raise TraceValueError(f"average of {a}: weights of shape {weights.shape} are not for axis {axis}")
            weights = views.reshape(weights, [size if at in axes else 1 for at, size in enumerate(a.shape)])
            weights = views.broadcast_to(weights, a.shape)
        kind = common_dtype([a, weights])
        kind = common_float([a, weights]) if kind.kind in "iub" else kind
        scale = reductions.reduce("sum", astype(weights, kind), axis, keepdims)
        found = reductions.reduce("sum", astype(a, kind) * weights, axis, keepdims) / scale
    return (found, views.broadcast_to(scale, found.shape)) if returned else found


def nansum(a: Any, axis: Axes = None, dtype: Any = None, **options: Any) -> Any:
    return sum(_without_nan(a, 0), axis, dtype, **options)


def nanprod(a: Any, axis: Axes = None, dtype: Any = None, **options: Any) -> Any:
    return prod(_without_nan(a, 1), axis, dtype, **options)


def nanmax(a: Any, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    return _unless_all_nan(max, a, axis, keepdims, initial, where)


def nanmin(a: Any, axis: Axes = None, *, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    return _unless_all_nan(min, a, axis, keepdims, initial, where)


def nanmean(a: Any, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False, where: Any = True) -> Any:
    return mean(a, axis, dtype, keepdims=keepdims, where=~np.isnan(a) & where)


def nanvar(a: Any, axis: Axes = None, dtype: Any = None, *, where: Any = True, **options: Any) -> Any:
    known = ~np.isnan(a) & where
    less = options.get("ddof") or options.get("correction") or 0
    count = _how_many(a, known, axis, options.get("keepdims", False))
    return _where(count > less, var(a, axis, dtype, where=known, **options), np.nan)


def nanstd(a: Any, axis: Axes = None, dtype: Any = None, **options: Any) -> Any:
    return np.sqrt(nanvar(a, axis, dtype, **options))


def nanargmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Of NaN alone, which NumPy refuses, the first."""
    return argmax(_without_nan(a, limits_of(a.dtype)[0]), axis, keepdims=keepdims)


def nanargmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Of NaN alone, which NumPy refuses, the first."""
    return argmin(_without_nan(a, limits_of(a.dtype)[1]), axis, keepdims=keepdims)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    if fweights is not None or aweights is not None:
        raise TraceTypeError("np.cov while tracing: weights are not supported; use np.average and products")
    trace = trace_of((m, y))
    parts = [tensor(trace, each) for each in (m, y) if each is not None]
    kind = np.dtype(dtype) if dtype is not None else common_float(parts)
    rows: list[Any] = [np.atleast_2d(each) for each in parts]
    rows = [astype(each, kind) for each in rows]
    rows = [each.T if not rowvar and part.ndim > 1 else each for each, part in zip(rows, parts, strict=True)]
    values: Any = np.concatenate(rows)
    centred = values - reductions.mean(values, 1, True)
    less = (0 if bias else 1) if ddof is None else ddof
    return np.squeeze((centred @ conjugated(centred.T)) / np.maximum(float(values.shape[1] - less), 0.0))


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    found = cov(x, y, rowvar, dtype=dtype)
    if not found.shape:
        return found / found
    spread = np.sqrt(np.diagonal(found))
    return np.clip(found / spread[:, None] / spread[None, :], -1, 1)


def _with_initial(ufunc: np.ufunc, found: Any, initial: Any) -> Any:
    """``found``, combined with ``initial``, which takes the type of the result."""
    return found if initial is None else ufunc(found, astype(tensor(found.program, initial, found.dtype), found.dtype))


def _extreme(name: str, ufunc: np.ufunc, a: Any, axis: Axes, keepdims: bool, initial: Any, mask: Any) -> Any:
    if mask is not True and initial is None:
        raise TraceValueError(f"{name} of {a} with where= needs initial=, the extreme of no elements")
    if initial is None:
        return reductions.reduce(name, a, axis, keepdims)
    neutral = limits_of(a.dtype)[name == "min"]
    chosen = _chosen(a, mask, neutral)
    axes = axes_of(name, a, axis)
    if count_along(a, axes) == 0:
        kept = [1 if at in axes else size for at, size in enumerate(a.shape) if keepdims or at not in axes]
        return views.broadcast_to(astype(tensor(a.program, initial), a.dtype), kept)
    return _with_initial(ufunc, reductions.reduce(name, chosen, axis, keepdims), initial)


def _chosen(a: Any, mask: Any, neutral: Any) -> Any:
    return a if mask is True else _where(mask, a, np.asarray(neutral, a.dtype)[()])


def _how_many(a: Any, mask: Any, axis: Axes, keepdims: bool) -> Any:
    """The number of elements of ``a`` that count."""
    every = np.ones(a.shape, np.bool_)
    return reductions.reduce("sum", tensor(a.program, every) & mask, axis, keepdims)


def _without_nan(a: Any, instead: Any) -> Any:
    return _where(np.isnan(a), instead, a) if kind_of(a.dtype) in "fc" else a


def _unless_all_nan(reduction: Callable[..., Any], a: Any, axis: Axes, keepdims: bool, initial: Any, mask: Any) -> Any:
    found = reduction(
        _without_nan(a, limits_of(a.dtype)[reduction is min]), axis, keepdims=keepdims, initial=initial, where=mask
    )
    if kind_of(a.dtype) not in "fc" or initial is not None:
        return found
    return _where(all(np.isnan(a), axis, keepdims=keepdims), np.nan, found)
