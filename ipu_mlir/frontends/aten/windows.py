"""Pooling over windows, channels first, with places, paddings and means as PyTorch has them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.arithmetic import truncated
from ipu_mlir.frontends.aten.rules import Later, Made, OpRule, constant, rule, wide
from ipu_mlir.frontends.support.sliding import pads_around, places_of_largest, slide, slide_where
from ipu_mlir.specs.tensor_types import limits_of


def _each(given: Any, rank: int, default: Any = None) -> list[int]:
    values = [given] if isinstance(given, int) else list(given)
    values = values or list(default)
    return values * rank if len(values) == 1 else values


def _ends(x: Any, made: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any) -> list[tuple[int, int]]:
    """How many elements of padding windows reach over, before and behind."""
    return [
        (pad, max(0, (count - 1) * step + (width - 1) * apart + 1 - size - pad))
        for size, count, width, step, pad, apart in zip(
            x.shape[-len(kernel) :], made, kernel, stride, padding, dilation, strict=True
        )
    ]


def _largest(
    rank: int, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    *, made: Made,
) -> Any:  # fmt: skip
    kernel = _each(kernel, rank)
    stride, padding, dilation = _each(stride, rank, kernel), _each(padding, rank), _each(dilation, rank)
    counts = made.shape[-rank:]
    least = limits_of(x.dtype)[0]
    padded = pads_around(x, _ends(x, counts, kernel, stride, padding, dilation), least)
    best = slide("maximum", padded, kernel, stride, dilation, counts, least)
    return best, Later(lambda: places_of_largest(x.shape, padded, best, kernel, stride, padding, dilation, counts))


_max_pool2d_with_places = rule("max_pool2d_with_indices.default")(partial(_largest, 2))
_max_pool3d_with_places = rule("max_pool3d_with_indices.default")(partial(_largest, 3))


def _max_pool(rank: int) -> OpRule:
    def largest(*args: Any, made: Made) -> Any:
        return _largest(rank, *args, made=made)[0]

    return rule(f"max_pool{rank}d.default")(largest)


_max_pool1d, _max_pool2d, _max_pool3d = map(_max_pool, (1, 2, 3))


@rule("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default")
def _avg_pool(
    x: Any, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False, with_border: bool = True,
    divisor: int | None = None, *, made: Made,
) -> Any:  # fmt: skip
    rank = len(kernel)
    stride, padding = _each(stride, rank, kernel), _each(padding, rank)
    counts, none = made.shape[-rank:], [1] * rank
    x = wide(x)
    total = slide(
        "add", pads_around(x, _ends(x, counts, kernel, stride, padding, none), 0), kernel, stride, none, counts, 0
    )
    elements = _elements(x.shape, kernel, stride, padding, counts, with_border, divisor)
    if x.dtype.kind in "iu":
        return truncated(total, constant(elements, x.dtype))
    return total * (1 / elements).astype(x.dtype)


def _elements(
    shape: Any, kernel: Any, stride: Any, padding: Any, counts: Any, with_border: bool, divisor: int | None
) -> np.ndarray:
    """By how much the sum of each window is divided; no window has those beyond the border."""
    if divisor is not None:
        return np.full(counts, divisor, np.float64)
    found = np.ones(counts)
    rank = len(kernel)
    for axis, (size, width, step, pad, count) in enumerate(
        zip(shape[-rank:], kernel, stride, padding, counts, strict=True)
    ):
        first = np.arange(count) * step - pad
        last = np.minimum(first + width, size + pad)
        each = last - first if with_border else np.minimum(last, size) - np.maximum(first, 0)
        found = found * each.reshape([-1, *[1] * (rank - 1 - axis)])
    return found


@rule("avg_pool2d_backward.default", "avg_pool3d_backward.default")
def _avg_pool_backward(
    gradient: Any, x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, with_border: bool,
    divisor: int | None = None,
) -> Any:  # fmt: skip
    rank = len(kernel)
    stride, padding = _each(stride, rank, kernel), _each(padding, rank)
    counts = gradient.shape[-rank:]
    shares = (1 / _elements(x.shape, kernel, stride, padding, counts, with_border, divisor)).astype(x.dtype)
    return spread_back(gradient * shares, x.shape, kernel, stride, padding)


def spread_back(gradient: Any, shape: Any, kernel: Any, stride: Any, padding: Any) -> Any:
    """The sum at each element of what windows over it have: windows over it backwards."""
    none = [1] * len(kernel)
    gradient = _behind_elements(gradient, 0, shape, kernel, stride, padding, none)
    return slide("add", gradient, kernel, none, none, shape[-len(kernel) :], 0)


def _behind_elements(
    values: Any, neutral: int, shape: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
) -> Any:
    """Values of windows, as far apart as these begin, ``neutral`` between them, for windows that go over the elements.

    That of element n has the values of all windows over n, first those in which n is the last element.
    """
    rank = len(kernel)
    counts, sizes = values.shape[-rank:], shape[-rank:]
    if any(step > 1 for step in stride):
        apart = [(count - 1) * step + 1 for count, step in zip(counts, stride, strict=True)]
        nothing = constant(np.full((*values.shape[:-rank], *apart), neutral, values.dtype))
        values = nothing.at[(..., *(slice(None, None, step) for step in stride))].set(values)
    ends = []
    for axis, (size, width, pad, step) in enumerate(zip(sizes, kernel, padding, dilation, strict=True)):
        before = (width - 1) * step - pad
        ends.append((before, size + pad - values.shape[axis - rank]))
    cut = [
        slice(max(0, -low), size - max(0, -high)) for (low, high), size in zip(ends, values.shape[-rank:], strict=True)
    ]
    return pads_around(values[(..., *cut)], [(max(0, low), max(0, high)) for low, high in ends], neutral)


@rule("_adaptive_avg_pool2d.default", "_adaptive_avg_pool3d.default", "adaptive_avg_pool1d.default",
      "adaptive_avg_pool2d.default", "adaptive_avg_pool3d.default")  # fmt: skip
def _adaptive_mean(x: Any, sizes: Sequence[int]) -> Any:
    if all(size == 1 for size in sizes):
        return np.mean(wide(x), axis=tuple(range(-len(sizes), 0)), keepdims=True)
    for dimension, size in zip(range(-len(sizes), 0), sizes, strict=True):
        if size != x.shape[dimension]:
            shares = constant(_shares(x.shape[dimension], size), x.dtype)
            x = np.moveaxis(np.matmul(np.moveaxis(x, dimension, -1), np.swapaxes(shares, 0, 1)), -1, dimension)
    return x


@rule("_adaptive_avg_pool2d_backward.default", "_adaptive_avg_pool3d_backward.default")
def _adaptive_mean_backward(gradient: Any, x: Any) -> Any:
    for dimension in range(-min(3, len(x.shape)), 0):
        if x.shape[dimension] != gradient.shape[dimension]:
            shares = constant(_shares(x.shape[dimension], gradient.shape[dimension]), x.dtype)
            gradient = np.moveaxis(np.matmul(np.moveaxis(gradient, dimension, -1), shares), -1, dimension)
    return gradient


def _bounds(size: int, windows: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last but one element of each of ``windows`` whose ends lie as far apart as possible."""
    window = np.arange(windows)
    return window * size // windows, ((window + 1) * size + windows - 1) // windows


def _shares(size: int, windows: int) -> np.ndarray:
    """The shares of the elements of a row in the means of windows."""
    first, last = (each[:, None] for each in _bounds(size, windows))
    place = np.arange(size)[None]
    return np.where((place >= first) & (place < last), 1.0 / (last - first), 0.0)


@rule("adaptive_max_pool2d_backward.default")
def _adaptive_max_backward(gradient: Any, x: Any, places: Any) -> Any:
    return _back_to_places(gradient, x, places, 2)


@rule("adaptive_max_pool3d_backward.default")
def _adaptive_max_of_volumes_backward(gradient: Any, x: Any, places: Any) -> Any:
    return _back_to_places(gradient, x, places, 3)


@rule("max_pool2d_with_indices_backward.default", "max_pool3d_with_indices_backward.default")
def _max_pool_backward(
    gradient: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, places: Any
) -> Any:
    rank, sizes = len(kernel), x.shape[-len(kernel) :]
    stride, padding, dilation = _each(stride, rank, kernel), _each(padding, rank), _each(dilation, rank)
    number = np.int32 if np.prod(sizes) <= np.iinfo(np.int32).max else np.int64
    windows = x.shape, kernel, stride, padding, dilation
    own = constant(np.arange(int(np.prod(sizes)), dtype=number).reshape(sizes))
    gradients = _behind_elements(gradient, 0, *windows)
    return slide_where(own, _behind_elements(places.astype(number), -1, *windows), gradients, kernel, dilation)


def _back_to_places(gradient: Any, x: Any, places: Any, rank: int) -> Any:
    """Added up where each window has its largest element: ``places`` among those of the last ``rank`` dimensions."""
    rows = int(np.prod(x.shape[:-rank]))
    flat = constant(np.zeros((rows, int(np.prod(x.shape[-rank:]))), x.dtype))
    index = np.arange(rows)[:, None], np.reshape(places, (rows, -1))
    return np.reshape(flat.at[index].add(np.reshape(gradient, (rows, -1))), x.shape)


@rule("adaptive_max_pool2d.default", "adaptive_max_pool3d.default")
def _adaptive_max(x: Any, sizes: Sequence[int]) -> Any:
    """Windows of several lengths: all as long as the longest, which begin sooner than they should."""
    rank = len(sizes)
    places, outside = [], []
    for size, count in zip(x.shape[-rank:], sizes, strict=True):
        first, last = _bounds(size, count)
        each = first[:, None] + np.arange(int((last - first).max()))
        places.append(np.minimum(each, size - 1))
        outside.append(each >= last[:, None])
    index = [_spread_over(each, axis, rank) for axis, each in enumerate(places)]
    masked = np.zeros((1,) * (2 * rank), bool)
    for axis, each in enumerate(outside):
        masked = masked | _spread_over(each, axis, rank)
    number = np.zeros((1,) * (2 * rank), np.int64)
    for size, each in zip(x.shape[-rank:], index, strict=True):
        number = number * size + each
    flat = np.reshape(x, (*x.shape[:-rank], -1))
    shape = np.broadcast_shapes(number.shape, masked.shape)
    number, masked = np.broadcast_to(number, shape), np.broadcast_to(masked, shape)
    parts = np.reshape(np.take(flat, number.reshape(-1), axis=-1), (*x.shape[:-rank], *shape))
    parts = np.where(masked, limits_of(x.dtype)[0], parts)
    inside = np.reshape(parts, (*parts.shape[: len(parts.shape) - rank], -1))
    at = np.argmax(inside, axis=-1)
    best = np.max(inside, axis=-1)
    numbers = number.reshape((*number.shape[:rank], -1))
    lookup = np.broadcast_to(numbers, inside.shape)
    chosen = np.take_along_axis(constant(lookup.copy()), at[..., None], -1)[..., 0]
    return best, chosen


def _spread_over(each: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """Of windows and their elements along one dimension, among those of all."""
    shape = [1] * (2 * rank)
    shape[axis], shape[rank + axis] = each.shape
    return each.reshape(shape)
