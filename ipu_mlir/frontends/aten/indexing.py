"""Ops that read and write at places that tensors say."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import Made, constant, rule
from ipu_mlir.frontends.support.selecting import places_of
from ipu_mlir.specs.tensor_types import limits_of


def _key(x: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    """Indices as NumPy has them; masks as they are."""
    return tuple(slice(None) if each is None else each for each in indices)


@rule("index.Tensor", "_unsafe_index.Tensor")
def _index(x: Any, indices: Sequence[Any]) -> Any:
    return x[_key(x, indices)]


@rule("index_put.default", "_unsafe_index_put.default")
def _index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    values = values.astype(x.dtype)
    masks = [each for each in indices if each is not None and each.dtype.kind == "b"]
    if masks:
        (mask,) = masks
        before = next(place for place, each in enumerate(indices) if each is mask)
        size = int(np.prod(values.shape))
        assert size == 1 or len(mask.shape) + before <= len(x.shape), "PyTorch takes such a mask"
        mask = np.reshape(mask, (*mask.shape, *(1,) * (len(x.shape) - before - len(mask.shape))))
        values = np.reshape(values, ()) if size == 1 else values
        return np.where(mask, x + values if accumulate else values, x)
    place = x.at[_key(x, indices)]
    values = _fitting(values, place.get().shape)
    return place.add(values) if accumulate else place.set(values)


def _fitting(values: Any, shape: tuple[int, ...]) -> Any:
    return np.broadcast_to(values, shape) if len(values.shape) <= len(shape) else np.reshape(values, shape)


@rule("embedding.default")
def _embedding(weight: Any, index: Any, *_: Any) -> Any:
    return np.take(weight, index, axis=0)


@rule("gather.default")
def _gather(x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    if not x.shape or not index.shape or 0 in index.shape:
        return np.reshape(_take(x, np.reshape(index, (-1,))), index.shape)
    dim %= len(x.shape)
    kept = tuple(slice(None) if axis == dim else slice(0, size) for axis, size in enumerate(index.shape))
    return np.take_along_axis(x[kept], index, dim)


def _places(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The places of ``x`` that ``index`` names along ``dim``, for an index of all dimensions."""
    rank = len(index.shape)
    return tuple(
        index if axis == dim else np.arange(size).reshape([-1 if each == axis else 1 for each in range(rank)])
        for axis, size in enumerate(index.shape)
    )


def _scattered(x: Any, dim: int, index: Any, source: Any, how: str) -> Any:
    if 0 in index.shape:
        return x
    if not x.shape or not index.shape:
        shape = x.shape
        x, index = np.reshape(x, (-1,)), np.reshape(index, (-1,))
        source = np.reshape(source, (-1,)) if getattr(source, "shape", ()) else source
        return np.reshape(_scattered(x, 0, index, source, how), shape)
    dim %= len(x.shape)
    if getattr(source, "shape", ()):
        source = source[tuple(slice(0, size) for size in index.shape)]
    place = x.at[_places(x, dim, index)]
    source = source.astype(x.dtype) if hasattr(source, "astype") else np.asarray(source, x.dtype)[()]
    return getattr(place, how)(source)


@rule("scatter.src", "scatter.value")
def _scatter(x: Any, dim: int, index: Any, source: Any) -> Any:
    return _scattered(x, dim, index, source, "set")


@rule("scatter_add.default")
def _scatter_add(x: Any, dim: int, index: Any, source: Any) -> Any:
    return _scattered(x, dim, index, source, "add")


@rule("scatter.reduce", "scatter.value_reduce")
def _scatter_with(x: Any, dim: int, index: Any, source: Any, *, reduce: str) -> Any:
    return _scattered(x, dim, index, source, {"add": "add", "multiply": "multiply"}[reduce])


_HOW = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "max", "amin": "min"}
_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1}


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
    if reduce in _NEUTRAL:
        return _NEUTRAL[reduce]
    return limits_of(dtype)[reduce == "amin"]


@rule("scatter_reduce.two")
def _scatter_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    whole = np.broadcast_to(constant(np.asarray(1, x.dtype)), index.shape) if 0 not in index.shape else None
    if whole is None:
        return x
    count = _scattered(constant(np.zeros(x.shape, np.int32)), dim, index, whole.astype(np.int32), "add")
    return _reduced(x, reduce, include_self, count, lambda start: _scattered(start, dim, index, source, _HOW[reduce]))


def _reduced(x: Any, reduce: str, include_self: bool, count: Any, write: Any) -> Any:
    """What ``write`` makes of ``x``, or of nothing where it writes; ``count`` is how often it does."""
    start = x if include_self else np.where(count > 0, np.asarray(_neutral(reduce, x.dtype), x.dtype)[()], x)
    found = write(start)
    if reduce != "mean":
        return found
    parts = np.maximum(count + int(include_self), 1).astype(x.dtype)
    if x.dtype.kind in "iu":
        return np.floor_divide(found, parts)
    return found / parts


@rule("index_reduce.default")
def _index_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    if not x.shape:
        whole = _index_reduce(x[None], 0, np.reshape(index, (-1,)), source[None], reduce, include_self=include_self)
        return whole[0]
    dim %= len(x.shape)
    moved, parts = np.moveaxis(x, dim, 0), np.moveaxis(source, dim, 0)
    ones = constant(np.ones(index.shape, np.int32))
    count = constant(np.zeros(moved.shape[:1], np.int32)).at[index].add(ones)
    count = np.reshape(count, (-1, *(1,) * (len(x.shape) - 1)))
    how = _HOW[reduce]
    found = _reduced(moved, reduce, include_self, count, lambda start: getattr(start.at[index], how)(parts))
    return np.moveaxis(found, 0, dim)


@rule("index_add.default")
def _index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    source = source if alpha == 1 else source * np.asarray(alpha, source.dtype)[()]
    if not x.shape:
        return x + np.sum(source)
    index = np.reshape(index, (-1,))
    return np.moveaxis(np.moveaxis(x, dim, 0).at[index].add(np.moveaxis(source, dim, 0)), 0, dim)


@rule("index_copy.default")
def _index_copy(x: Any, dim: int, index: Any, source: Any) -> Any:
    if not x.shape:
        return np.reshape(source, ())
    index = np.reshape(index, (-1,))
    return np.moveaxis(np.moveaxis(x, dim, 0).at[index].set(np.moveaxis(source, dim, 0)), 0, dim)


@rule("index_fill.int_Scalar", "index_fill.int_Tensor")
def _index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    value = value.astype(x.dtype) if hasattr(value, "astype") else np.asarray(value, x.dtype)[()]
    if not x.shape:
        return np.broadcast_to(constant(value), ()) if not hasattr(value, "value") else value
    index = np.reshape(index, (-1,))
    return np.moveaxis(np.moveaxis(x, dim, 0).at[index].set(value), 0, dim)


@rule("put.default")
def _put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    flat = np.reshape(x, (-1,))
    place, source = flat.at[np.reshape(index, (-1,))], np.reshape(source, (-1,))
    return np.reshape(place.add(source) if accumulate else place.set(source), x.shape)


@rule("take.default")
def _take(x: Any, index: Any) -> Any:
    flat = np.reshape(x, (-1,))
    return np.take(flat, index) if 0 not in index.shape else np.reshape(flat[:0], index.shape)


@rule("masked_scatter.default")
def _masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    x, mask = np.broadcast_arrays(x, mask)
    number = np.cumsum(np.reshape(mask, (-1,)).astype(np.int32)) - 1
    flat = np.reshape(source, (-1,)).astype(x.dtype)
    chosen = np.take(flat, np.clip(number, 0, flat.shape[0] - 1))
    return np.where(mask, np.reshape(chosen, x.shape), x)


@rule("masked_scatter_backward.default")
def _masked_scatter_backward(gradient: Any, mask: Any, sizes: Any) -> Any:
    mask = np.reshape(np.broadcast_to(mask, gradient.shape), (-1,))
    size = int(np.prod(sizes))
    number = np.where(mask, np.cumsum(mask.astype(np.int32)) - 1, size)
    empty = constant(np.zeros(size + 1, gradient.dtype))
    return np.reshape(empty.at[np.minimum(number, size)].add(np.reshape(gradient, (-1,)))[:size], tuple(sizes))


@rule("bincount.default")
def _bincount(x: Any, weights: Any = None, minlength: int = 0, *, made: Made) -> Any:
    empty = constant(np.zeros(made.shape, made.dtype))
    return empty.at[x].add(constant(np.ones(x.shape, made.dtype)) if weights is None else weights.astype(made.dtype))


@rule("nonzero_static.default")
def _nonzero(x: Any, *, size: int, fill_value: int = -1) -> Any:
    """The places of the first ``size`` elements that are not zero."""
    if not x.shape:
        return constant(np.zeros((size, 0), np.int64))
    is_there = np.reshape(x != 0, (-1,))
    places = np.stack(np.unravel_index(places_of(is_there, size), x.shape), axis=1)
    return np.where((np.arange(size) < np.sum(is_there.astype(np.int64)))[:, None], places, fill_value)


@rule("repeat_interleave.Tensor")
def _numbers_repeated(repeats: Any, *, output_size: int | None = None, made: Made) -> Any:
    return np.searchsorted(np.cumsum(repeats), constant(np.arange(made.shape[0]), repeats.dtype), "right")
