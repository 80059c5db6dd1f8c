"""Convolutions, channels first, and their gradients, which are convolutions of other operands."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import constant, rule
from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing.emit import Loop, Sum, structured
from ipu_mlir.tracing.pairs import complex_of, part
from ipu_mlir.tracing.scalar_ops import BODIES


@rule("convolution.default", "convolution_overrideable.default")
def _convolution(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int,
) -> Any:  # fmt: skip
    rank = len(weight.shape) - 2
    is_batch = len(x.shape) == rank + 2
    x = x if is_batch else x[None]
    stride, padding, dilation, more = (_each(given, rank) for given in (stride, padding, dilation, output_padding))
    if transposed:
        found = _transposed(x, weight, stride, padding, dilation, more, groups)
    else:
        pads = [(each, each) for each in padding]
        found = convolve(_padded(x, pads), weight, stride, dilation, groups)
    if bias is not None:
        found = found + np.reshape(bias, (-1, *[1] * rank))
    return found if is_batch else found[0]


@rule("conv1d.default", "conv2d.default", "conv3d.default")
def _plain(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    return _convolution(x, weight, bias, stride, padding, dilation, False, [0], groups)


def _each(given: Any, rank: int) -> list[int]:
    values = [given] if isinstance(given, int) else list(given)
    return values * rank if len(values) == 1 else values


def convolve(x: Any, weight: Any, stride: Sequence[int], dilation: Sequence[int], groups: int) -> Any:
    """Sums of products of ``weight`` with windows of ``x``, in ``groups`` of channels that do not see each other."""
    if x.dtype.kind == "c":
        (a, b), (c, d) = ((part(each, 0), part(each, 1)) for each in (x, weight))
        one, two, three, four = (convolve(*each, stride, dilation, groups) for each in ((a, c), (b, d), (a, d), (b, c)))
        return complex_of(one - two, three + four)
    batch, channels, *space = x.shape
    filters, inner, *kernel = weight.shape
    rank = len(kernel)
    counts = [
        (size - (width - 1) * apart - 1) // step + 1
        for size, width, apart, step in zip(space, kernel, dilation, stride, strict=True)
    ]
    outer = [groups] if groups > 1 else []
    if outer:
        x = np.reshape(x, (batch, groups, channels // groups, *space))
        weight = np.reshape(weight, (groups, filters // groups, inner, *kernel))
    sizes = [batch, *outer, filters // groups, *counts]
    sums = [inner, *kernel]
    loops = [*map(Loop, sizes), *(Loop(size, "reduction") for size in sums)]
    first, last = 2 + len(outer), len(sizes)
    slide = [Sum((first + axis, last + 1 + axis), (stride[axis], dilation[axis])) for axis in range(rank)]
    group = [1] if outer else []
    inputs = [
        (x, (0, *group, last, *slide)),
        (weight, (*group, first - 1, *range(last, last + 1 + rank))),
    ]
    multiply, add = (BODIES[each].for_kind(kind_of(x.dtype)) for each in ("multiply", "add"))
    assert multiply is not None and add is not None, "all element types have sums and products"

    def code(left: Any, right: Any, so_far: Any) -> Any:
        return add(so_far, multiply(left, right))

    found = structured(x.program, "convolution", inputs, loops, tuple(range(last)), x.dtype, code, 0)
    return np.reshape(found, (batch, filters, *counts))


def _padded(x: Any, pairs: Sequence[tuple[int, int]]) -> Any:
    """With zeros around the images; negative numbers cut off."""
    cut = [slice(max(0, -low), size - max(0, -high)) for (low, high), size in zip(pairs, x.shape[2:], strict=True)]
    x = x[(slice(None), slice(None), *cut)]
    grown = [(0, 0), (0, 0), *((max(0, low), max(0, high)) for low, high in pairs)]
    return np.pad(x, grown) if any(map(any, grown)) else x


def _spread(x: Any, stride: Sequence[int]) -> Any:
    """Images with ``stride - 1`` zeros between the elements of each dimension."""
    if all(step == 1 for step in stride):
        return x
    sizes = [(size - 1) * step + 1 for size, step in zip(x.shape[2:], stride, strict=True)]
    empty = constant(np.zeros((*x.shape[:2], *sizes), x.dtype))
    return empty.at[(slice(None), slice(None), *(slice(None, None, step) for step in stride))].set(x)


def _transposed(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, more: Sequence[int], groups: int) -> Any:
    """What a convolution with ``weight`` would have made ``x`` of; its gradient for its input."""
    kernel = weight.shape[2:]
    reach = [apart * (width - 1) for apart, width in zip(dilation, kernel, strict=True)]
    pads = [(each - pad, each - pad + extra) for each, pad, extra in zip(reach, padding, more, strict=True)]
    return convolve(_padded(_spread(x, stride), pads), _turned(weight, groups), [1] * len(kernel), dilation, groups)


def _turned(weight: Any, groups: int) -> Any:
    """The windows backwards, and of each group filters as channels and channels as filters."""
    filters, inner, *kernel = weight.shape
    apart = np.reshape(weight, (groups, filters // groups, inner, *kernel))
    turned = np.reshape(np.swapaxes(apart, 1, 2), (groups * inner, filters // groups, *kernel))
    return np.flip(turned, tuple(range(2, 2 + len(kernel))))


@rule("convolution_backward.default")
def _convolution_backward(
    gradient: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, output_mask: Sequence[bool],
) -> Any:  # fmt: skip
    rank = len(weight.shape) - 2
    stride, padding, dilation = (_each(given, rank) for given in (stride, padding, dilation))
    of_input = of_weight = of_bias = None
    if output_mask[0] and transposed:
        of_input = convolve(_padded(gradient, [(each, each) for each in padding]), weight, stride, dilation, groups)
    elif output_mask[0]:
        made = [
            (size - 1) * step - 2 * pad + apart * (width - 1) + 1
            for size, step, pad, apart, width in zip(
                gradient.shape[2:], stride, padding, dilation, weight.shape[2:], strict=True
            )
        ]
        more = [size - each for size, each in zip(x.shape[2:], made, strict=True)]
        of_input = _transposed(gradient, weight, stride, padding, dilation, more, groups)
    if output_mask[1]:
        wide, narrow = (gradient, x) if transposed else (x, gradient)
        of_weight = _of_weight(wide, narrow, weight.shape, stride, padding, dilation, groups)
    if output_mask[2]:
        of_bias = np.sum(gradient, axis=(0, *range(2, 2 + rank)))
    return of_input, of_weight, of_bias


def _of_weight(
    wide: Any, narrow: Any, shape: Sequence[int], stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """The gradient of the weight of a convolution from ``wide`` to ``narrow``: one of ``wide`` with ``narrow``, where
    samples and channels change places, and strides and dilations too.
    """
    samples, channels, *image = wide.shape
    inner, *kernel = shape[1:]
    padded = _padded(wide, [(each, each) for each in padding])
    reach = [
        apart * (width - 1) + step * (size - 1) + 1
        for apart, width, step, size in zip(dilation, kernel, stride, narrow.shape[2:], strict=True)
    ]
    padded = padded[(slice(None), slice(None), *(slice(0, each) for each in reach))]
    # channels of a group as samples, samples as channels: (inner, groups * samples) with (filters, samples)
    image = padded.shape[2:]
    apart = np.reshape(padded, (samples, groups, channels // groups, *image))
    turned = np.reshape(np.moveaxis(apart, (2, 1, 0), (0, 1, 2)), (inner, groups * samples, *image))
    found = convolve(turned, np.swapaxes(narrow, 0, 1), dilation, stride, groups)
    return np.swapaxes(found, 0, 1)
