"""Ops over dimensions: sums, means, extremes, and running ones."""

from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import Made, axes, constant, rule, wide
from ipu_mlir.frontends.support.activations import log_softmax, logsumexp, softmax
from ipu_mlir.tracing.functions.running import accumulate


def _ready(x: Any, made: Made) -> Any:
    """What is summed: integers in the type of the result, narrow floats in float32."""
    return wide(x if made.dtype.kind in "fV" and x.dtype.kind in "fV" else x.astype(made.dtype))


@rule("sum", "prims.sum.default")
def _sum(x: Any, dims: Any = None, keepdim: bool = False, *, made: Made, **_: Any) -> Any:
    x = _ready(x, made)
    return np.sum(x, axis=axes(dims, x), keepdims=keepdim is True, dtype=x.dtype)


@rule("mean")
def _mean(x: Any, dims: Any = None, keepdim: bool = False, *, made: Made, **_: Any) -> Any:
    x = _ready(x, made)
    return np.mean(x, axis=axes(dims, x), keepdims=keepdim)


@rule("prod.default", "prims.prod.default")
def _prod(x: Any, dims: Any = None, *, made: Made, **_: Any) -> Any:
    x = _ready(x, made)
    return np.prod(x, axis=axes(dims, x), dtype=x.dtype)


@rule("prod.dim_int")
def _prod_along(x: Any, dim: int, keepdim: bool = False, *, made: Made, **_: Any) -> Any:
    x = _ready(x, made)
    return np.prod(x, axis=axes(dim, x), keepdims=keepdim, dtype=x.dtype)


@rule("var.correction", "prims.var.default")
def _var(x: Any, dims: Any = None, correction: Any = 1, keepdim: bool = False, **_: Any) -> Any:
    return _moments(x, dims, correction, keepdim)[0]


@rule("var_mean.correction")
def _var_mean(x: Any, dims: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
    return _moments(x, dims, correction, keepdim)


def _moments(x: Any, dims: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    x, along = wide(x), axes(dims, x)
    mean = np.mean(x, axis=along, keepdims=True)
    apart = x - mean
    squares = np.real(apart * np.conjugate(apart)) if x.dtype.kind == "c" else apart * apart
    count = int(np.prod([x.shape[each] for each in along]))
    left = count - (1 if correction is None else correction)
    total = np.sum(squares, axis=along, keepdims=True)
    variance = total / left if left > 0 else np.where(total == 0, np.nan, np.inf if count else np.nan)
    if keepdim:
        return variance, mean
    return np.squeeze(variance, along) if along else variance, np.squeeze(mean, along) if along else mean


@rule("amax.default", "prims.amax.default")
def _amax(x: Any, dims: Any = (), keepdim: bool = False, **_: Any) -> Any:
    return np.max(x, axis=axes(dims, x), keepdims=keepdim)


@rule("amin.default", "prims.amin.default")
def _amin(x: Any, dims: Any = (), keepdim: bool = False, **_: Any) -> Any:
    return np.min(x, axis=axes(dims, x), keepdims=keepdim)


@rule("max.default")
def _max(x: Any) -> Any:
    return np.max(x)


@rule("min.default")
def _min(x: Any) -> Any:
    return np.min(x)


@rule("any.default", "any.dim", "any.dims")
def _any(x: Any, dims: Any = None, keepdim: bool = False) -> Any:
    return np.any(x.astype(np.bool_), axis=axes(dims, x), keepdims=keepdim)


@rule("all.default", "all.dim", "all.dims")
def _all(x: Any, dims: Any = None, keepdim: bool = False) -> Any:
    return np.all(x.astype(np.bool_), axis=axes(dims, x), keepdims=keepdim)


def _along(find: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    if not x.shape:
        return constant(0, np.int64)
    if dim is None:
        found = find(np.reshape(x, (-1,)), axis=0)
        return np.reshape(found, (1,) * len(x.shape)) if keepdim else found
    return find(x, axis=dim % len(x.shape), keepdims=keepdim)


@rule("argmax.default")
def _argmax(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return _along(np.argmax, x, dim, keepdim)


@rule("argmin.default")
def _argmin(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return _along(np.argmin, x, dim, keepdim)


@rule("max.dim")
def _max_along(x: Any, dim: int, keepdim: bool = False) -> Any:
    return np.max(x, axis=axes(dim, x), keepdims=keepdim), _along(np.argmax, x, dim, keepdim)


@rule("min.dim")
def _min_along(x: Any, dim: int, keepdim: bool = False) -> Any:
    return np.min(x, axis=axes(dim, x), keepdims=keepdim), _along(np.argmin, x, dim, keepdim)


@rule("cumsum.default")
def _cumsum(x: Any, dim: int, *, made: Made, **_: Any) -> Any:
    x = _ready(x, made)
    return np.cumsum(x, axis=dim, dtype=x.dtype) if x.shape else x


@rule("cumprod.default")
def _cumprod(x: Any, dim: int, *, made: Made, **_: Any) -> Any:
    x = _ready(x, made)
    return np.cumprod(x, axis=dim, dtype=x.dtype) if x.shape else x


@rule("logcumsumexp.default")
def _logcumsumexp(x: Any, dim: int) -> Any:
    return accumulate(np.logaddexp, x, dim % len(x.shape)) if x.shape else x


@rule("cummax.default")
def _cummax(x: Any, dim: int) -> Any:
    return _running(np.maximum, x, dim)


@rule("cummin.default")
def _cummin(x: Any, dim: int) -> Any:
    return _running(np.minimum, x, dim)


def _running(ufunc: np.ufunc, x: Any, dim: int) -> tuple[Any, Any]:
    """The extreme so far, and where it stands; of equal ones, the last."""
    if not x.shape:
        return x, constant(0, np.int64)
    dim %= len(x.shape)
    found = accumulate(ufunc, x, dim)
    places = np.reshape(np.arange(x.shape[dim]), [-1 if axis == dim else 1 for axis in range(len(x.shape))])
    is_new = (x == found) | ((x != x) & (found != found))
    newest: Any = np.where(is_new, places, -1)
    return found, accumulate(np.maximum, newest, dim)


@rule("count_nonzero.default", "count_nonzero.dim_IntList")
def _count_nonzero(x: Any, dims: Any = None) -> Any:
    return np.sum((x != 0).astype(np.int64), axis=axes(dims, x))


@rule("_softmax.default", "softmax.int")
def _softmax(x: Any, dim: int, *_: Any, made: Made) -> Any:
    x = wide(x.astype(made.dtype))
    return softmax(x, dim) if x.shape else np.ones_like(x)


@rule("_log_softmax.default", "log_softmax.int")
def _log_softmax(x: Any, dim: int, *_: Any, made: Made) -> Any:
    x = wide(x.astype(made.dtype))
    return log_softmax(x, dim) if x.shape else np.zeros_like(x)


@rule("logsumexp.default")
def _logsumexp(x: Any, dims: Any, keepdim: bool = False) -> Any:
    return logsumexp(wide(x), axes(dims, x), keepdim)
