"""Convolutions and pooling of ONNX, with any padding, in any number of dimensions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.rules import rule, traced_like
from ipu_mlir.frontends.support.convolving import convolve, padded, transposed_convolution
from ipu_mlir.frontends.support.sliding import pads_around, places_of_largest, slide
from ipu_mlir.specs.tensor_types import limits_of


@dataclass(frozen=True)
class _Windows:
    """Windows over images, by dimension.

    Attributes:
        sizes: of the image.
        kernel, stride, dilation: of the windows.
        pads: elements of padding before and behind the image.
        counts: of windows.
    """

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    counts: tuple[int, ...]

    @property
    def ends(self) -> list[tuple[int, int]]:
        """The padding that windows reach, which may be more than there is, and is less where windows end before."""
        reached = zip(self.sizes, self.kernel, self.stride, self.dilation, self.pads, self.counts, strict=True)
        return [
            (before, (count - 1) * step + (width - 1) * apart + 1 - size - before)
            for size, width, step, apart, (before, _), count in reached
        ]

    def elements(self, with_padding: bool) -> np.ndarray:
        """The number of elements of each window that lie in the image, or in it and its padding."""
        found = np.ones(self.counts)
        for axis, (size, (before, behind)) in enumerate(zip(self.sizes, self.pads, strict=True)):
            first = np.arange(self.counts[axis]) * self.stride[axis]
            places = first[:, None] + np.arange(self.kernel[axis]) * self.dilation[axis] - before
            low, high = (-before, size + behind) if with_padding else (0, size)
            inside = ((places >= low) & (places < high)).sum(axis=1)
            found = found * inside.reshape([-1, *[1] * (len(self.sizes) - 1 - axis)])
        return found


def _windows(
    sizes: Sequence[int], kernel: Sequence[int], *, strides: Any = None, dilations: Any = None, pads: Any = None,
    auto_pad: Any = "NOTSET", ceil_mode: int | None = 0, **_: Any,
) -> _Windows:  # fmt: skip
    rank = len(sizes)
    strides, dilations = list(strides or [1] * rank), list(dilations or [1] * rank)
    found, counts = [], []
    pads = list(pads or [0] * (2 * rank))
    for axis, size in enumerate(sizes):
        reach, step = (kernel[axis] - 1) * dilations[axis] + 1, strides[axis]
        if text(auto_pad).startswith("SAME"):
            count = -(-size // step)
            found.append(halves(max(0, (count - 1) * step + reach - size), auto_pad))
        else:
            before, behind = (0, 0) if text(auto_pad) == "VALID" else (pads[axis], pads[rank + axis])
            more = step - 1 if ceil_mode else 0
            count = (size + before + behind - reach + more) // step + 1
            count -= bool(ceil_mode) and (count - 1) * step >= size + before  # none begins behind the image
            found.append((before, behind))
        counts.append(count)
    return _Windows(tuple(sizes), tuple(kernel), tuple(strides), tuple(dilations), tuple(found), tuple(counts))


def text(value: Any) -> str:
    """An attribute that is text, which some versions of the package give as bytes."""
    return value.decode() if isinstance(value, bytes) else value or "NOTSET"


def halves(total: int, auto_pad: Any) -> tuple[int, int]:
    """``total`` elements of padding before and behind; ``auto_pad`` says which side has one more."""
    less, more = total // 2, total - total // 2
    return (more, less) if text(auto_pad) == "SAME_LOWER" else (less, more)


@rule("Conv")
def convolution(x: Any, weight: Any, bias: Any = None, *, group: int | None = 1, **settings: Any) -> Any:
    x, weight = traced_like(x, weight), traced_like(weight, x)
    settings.pop("kernel_shape", None)
    windows = _windows(x.shape[2:], weight.shape[2:], **settings)
    found = convolve(padded(x, windows.pads), weight, windows.stride, windows.dilation, group or 1)
    return found if bias is None else found + np.reshape(bias, (-1, *[1] * (len(x.shape) - 2)))


@rule("ConvInteger")
def _integer_convolution(x: Any, weight: Any, zero: Any = None, weight_zero: Any = None, **settings: Any) -> Any:
    wide = _less_zero(x, zero)
    return convolution(wide, _less_zero(weight, weight_zero), **settings)


def _less_zero(x: Any, zero: Any) -> Any:
    """8-bit numbers less their zero point, one or one for each filter, as int32."""
    wide = x.astype(np.int32)
    if zero is None:
        return wide
    each = zero.astype(np.int32)
    return wide - (np.reshape(each, (-1, *[1] * (len(x.shape) - 1))) if math.prod(each.shape) > 1 else each)


@rule("QLinearConv")
def _quantized_convolution(
    x: Any, scale: Any, zero: Any, weight: Any, weight_scale: Any, weight_zero: Any, made_scale: Any, made_zero: Any,
    bias: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    total = _integer_convolution(x, weight, zero, weight_zero, **settings)
    rank = len(x.shape) - 2
    if bias is not None:
        total = total + np.reshape(bias, (-1, *[1] * rank))
    factor = scale * weight_scale / made_scale
    factor = np.reshape(factor, (-1, *[1] * rank)) if math.prod(factor.shape) > 1 else np.reshape(factor, ())
    limits = np.iinfo(made_zero.dtype)
    found = np.rint(total.astype(np.float32) * factor) + made_zero.astype(np.float32)
    return np.clip(found, float(limits.min), float(limits.max)).astype(np.int32).astype(made_zero.dtype)


@rule("ConvTranspose")
def _transposed(
    x: Any, weight: Any, bias: Any = None, *, group: int | None = 1, strides: Any = None, dilations: Any = None,
    pads: Any = None, auto_pad: Any = "NOTSET", output_padding: Any = None, output_shape: Any = None, **_: Any,
) -> Any:  # fmt: skip
    x, weight = traced_like(x, weight), traced_like(weight, x)
    rank = len(x.shape) - 2
    strides, dilations = list(strides or [1] * rank), list(dilations or [1] * rank)
    more, pads = list(output_padding or [0] * rank), list(pads or [0] * (2 * rank))
    whole = [
        step * (size - 1) + extra + (width - 1) * apart + 1
        for step, size, extra, width, apart in zip(strides, x.shape[2:], more, weight.shape[2:], dilations, strict=True)
    ]
    if output_shape is None and text(auto_pad).startswith("SAME"):
        output_shape = [size * step for size, step in zip(x.shape[2:], strides, strict=True)]
    if output_shape is not None:
        side = "SAME_LOWER" if text(auto_pad) == "NOTSET" else auto_pad
        cuts = [halves(size - wanted, side) for size, wanted in zip(whole, output_shape[-rank:], strict=True)]
    else:
        cuts = list(zip(pads[:rank], pads[rank:], strict=True))
    before = [each for each, _ in cuts]
    extra = [more[axis] + low - high for axis, (low, high) in enumerate(cuts)]
    found = transposed_convolution(x, weight, strides, before, dilations, extra, group or 1)
    return found if bias is None else found + np.reshape(bias, (-1, *[1] * rank))


@rule("MaxPool")
def _max_pool(x: Any, *, kernel_shape: Sequence[int], outputs: int = 1, storage_order: int = 0, **settings: Any) -> Any:
    windows = _windows(x.shape[2:], kernel_shape, **settings)
    least = limits_of(x.dtype)[0]
    whole = _reached(x, windows, least)
    best = slide("maximum", whole, windows.kernel, windows.stride, windows.dilation, windows.counts, least)
    if outputs < 2:
        return best
    before = [each for each, _ in windows.pads]
    places = places_of_largest(
        x.shape, whole, best, windows.kernel, windows.stride, before, windows.dilation, windows.counts
    )
    if storage_order:
        rows, columns = x.shape[2:]
        places = places % columns * rows + places // columns
    images = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2]) * math.prod(x.shape[2:])
    return best, places + images.reshape((*x.shape[:2], *[1] * len(kernel_shape)))


def _reached(x: Any, windows: _Windows, number: Any) -> Any:
    """``x`` with ``number`` around it as far as windows reach, and without what lies behind the last one."""
    cut = [slice(None, size + min(0, behind)) for size, (_, behind) in zip(windows.sizes, windows.ends, strict=True)]
    return pads_around(x[(..., *cut)], [(before, max(0, behind)) for before, behind in windows.ends], number)


def _total(x: Any, windows: _Windows) -> Any:
    whole = _reached(x, windows, 0)
    return slide("add", whole, windows.kernel, windows.stride, windows.dilation, windows.counts, 0)


@rule("AveragePool")
def _average_pool(x: Any, *, kernel_shape: Sequence[int], count_include_pad: int | None = 0, **settings: Any) -> Any:
    windows = _windows(x.shape[2:], kernel_shape, **settings)
    wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
    shares = 1 / np.maximum(windows.elements(bool(count_include_pad)), 1)
    return (_total(wide, windows) * shares.astype(wide.dtype)).astype(x.dtype)


@rule("LpPool")
def _norm_pool(x: Any, *, kernel_shape: Sequence[int], p: float | None = 2, **settings: Any) -> Any:
    windows, power = _windows(x.shape[2:], kernel_shape, **settings), float(p or 2)
    return np.power(_total(np.power(np.abs(x), power), windows), 1.0 / power).astype(x.dtype)


@rule("GlobalLpPool")
def _global_norm_pool(x: Any, *, p: float | None = 2, **_: Any) -> Any:
    axes, power = tuple(range(2, len(x.shape))), float(p or 2)
    return np.power(np.sum(np.power(np.abs(x), power), axis=axes, keepdims=True), 1.0 / power).astype(x.dtype)


@rule("MaxUnpool")
def _max_unpool(
    x: Any, places: Any, output_shape: Any = None, *, kernel_shape: Sequence[int], strides: Any = None,
    pads: Any = None, **_: Any,
) -> Any:  # fmt: skip
    """Zeros but for the elements of ``x``, at ``places`` among all of the result."""
    rank = len(kernel_shape)
    strides, pads = list(strides or [1] * rank), list(pads or [0] * (2 * rank))
    made = [
        (size - 1) * step - pads[axis] - pads[rank + axis] + kernel_shape[axis]
        for axis, (size, step) in enumerate(zip(x.shape[2:], strides, strict=True))
    ]
    x, places = traced_like(x, places), np.reshape(places, (-1,))
    shape = (*x.shape[:2], *made)
    empty = x.program.constant(np.zeros(math.prod(shape), x.dtype))
    found = np.reshape(empty.at[places].set(np.reshape(x, (-1,))), shape)
    if output_shape is None:
        return found
    more = [int(wanted) - size for wanted, size in zip(output_shape, shape, strict=True)]
    return np.pad(found, [(0, each) for each in more])


@rule("Col2Im")
def _from_columns(
    columns: Any, image_shape: Any, block_shape: Any, *, dilations: Any = None, pads: Any = None, strides: Any = None,
    **_: Any,
) -> Any:  # fmt: skip
    """The sum at each element of an image of what blocks over it have there."""
    sizes, kernel = ([int(each) for each in given] for given in (image_shape, block_shape))
    rank = len(sizes)
    windows = _windows(sizes, kernel, strides=strides, dilations=dilations, pads=pads)
    grown = [size + before + behind for size, (before, behind) in zip(sizes, windows.pads, strict=True)]
    columns = np.reshape(columns, (columns.shape[0], columns.shape[1] // math.prod(kernel), -1))
    places = np.zeros((1,) * (2 * rank), np.int64)
    for axis in range(rank):
        offsets = np.arange(kernel[axis]) * windows.dilation[axis]
        each = offsets[:, None] + np.arange(windows.counts[axis]) * windows.stride[axis]
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = each.shape
        places = places * grown[axis] + each.reshape(shape)
    empty = columns.program.constant(np.zeros((*columns.shape[:2], math.prod(grown)), columns.dtype))
    found = np.reshape(empty.at[:, :, places.reshape(-1)].add(columns), (*columns.shape[:2], *grown))
    inside = [slice(before, before + size) for size, (before, _) in zip(sizes, windows.pads, strict=True)]
    return found[(..., *inside)]
