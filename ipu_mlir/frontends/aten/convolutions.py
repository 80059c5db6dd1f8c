"""Convolutions, channels first, and their gradients, which are convolutions of other operands."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import rule
from ipu_mlir.frontends.support.convolving import convolve, padded, transposed_convolution


@rule("convolution.default", "convolution_overrideable.default", "_convolution.default")
def _convolution(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int, *_of_cudnn: bool,
) -> Any:  # fmt: skip
    rank = len(weight.shape) - 2
    is_batch = len(x.shape) == rank + 2
    x = x if is_batch else x[None]
    stride, padding, dilation, more = (_each(given, rank) for given in (stride, padding, dilation, output_padding))
    if transposed:
        found = transposed_convolution(x, weight, stride, padding, dilation, more, groups)
    else:
        pads = [(each, each) for each in padding]
        found = convolve(padded(x, pads), weight, stride, dilation, groups)
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


@rule("convolution_backward.default")
def _convolution_backward(
    gradient: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, output_mask: Sequence[bool],
) -> Any:  # fmt: skip
    rank = len(weight.shape) - 2
    stride, padding, dilation = (_each(given, rank) for given in (stride, padding, dilation))
    of_input = of_weight = of_bias = None
    if output_mask[0] and transposed:
        of_input = convolve(padded(gradient, [(each, each) for each in padding]), weight, stride, dilation, groups)
        of_input = of_input[(..., *map(slice, x.shape[2:]))]  # the output's padding may hold a window more
    elif output_mask[0]:
        made = [
            (size - 1) * step - 2 * pad + apart * (width - 1) + 1
            for size, step, pad, apart, width in zip(
                gradient.shape[2:], stride, padding, dilation, weight.shape[2:], strict=True
            )
        ]
        more = [size - each for size, each in zip(x.shape[2:], made, strict=True)]
        of_input = transposed_convolution(gradient, weight, stride, padding, dilation, more, groups)
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
    whole = padded(wide, [(each, each) for each in padding])
    reach = [
        apart * (width - 1) + step * (size - 1) + 1
        for apart, width, step, size in zip(dilation, kernel, stride, narrow.shape[2:], strict=True)
    ]
    whole = whole[(slice(None), slice(None), *(slice(0, each) for each in reach))]
    # channels of a group as samples, samples as channels: (inner, groups * samples) with (filters, samples)
    image = whole.shape[2:]
    apart = np.reshape(whole, (samples, groups, channels // groups, *image))
    turned = np.reshape(np.moveaxis(apart, (2, 1, 0), (0, 1, 2)), (inner, groups * samples, *image))
    found = convolve(turned, np.swapaxes(narrow, 0, 1), dilation, stride, groups)
    return np.swapaxes(found, 0, 1)
