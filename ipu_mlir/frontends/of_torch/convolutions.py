"""Convolutions of PyTorch, and their gradients, as those convolutions that torch-mlir lowers."""

from collections.abc import Sequence
from math import isqrt
from typing import Any

import torch

aten = torch.ops.aten


def convolution(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int,
) -> Any:  # fmt: skip
    """A convolution of each channel by itself, where torch-mlir does not lower it: transposed, or of volumes."""
    rank, channels = x.dim() - 2, x.shape[1]
    is_depthwise = 1 < groups == channels
    if not is_depthwise or not (rank == 3 or (transposed and weight.shape[1] == 1)):
        return NotImplemented
    stride, padding, dilation = (_each(given, rank) for given in (stride, padding, dilation))
    if transposed:
        kernels = weight.shape[2:]
        x = _spread(x, stride)
        before = [d * (kernel - 1) - p for d, kernel, p in zip(dilation, kernels, padding, strict=True)]
        after = [low + more for low, more in zip(before, _each(output_padding, rank), strict=True)]
        pairs = zip(reversed(before), reversed(after), strict=True)
        x = aten.constant_pad_nd(x, [each for pair in pairs for each in pair])
        weight = weight.flip([*range(2, rank + 2)]).reshape([-1, 1, *kernels])
        stride, padding = [1] * rank, [0] * rank
    if rank == 3:
        groups, weight = _in_larger_groups(weight, groups)
    return aten.convolution(x, weight, bias, stride, padding, dilation, False, [0] * rank, groups)


def _spread(x: Any, stride: Sequence[int]) -> Any:
    """Images with ``stride - 1`` zeros between the elements of each dimension."""
    for dimension, step in enumerate(stride, 2):
        if step > 1:
            size = x.shape[dimension]
            apart = aten.constant_pad_nd(x.unsqueeze(-1), [0, step - 1]).movedim(-1, dimension + 1)
            apart = apart.reshape([*x.shape[:dimension], size * step, *x.shape[dimension + 1 :]])
            x = apart.narrow(dimension, 0, (size - 1) * step + 1)
    return x


def _in_larger_groups(weight: Any, groups: int) -> tuple[int, Any]:
    """Fewer groups of as many channels as possible are few, and the weight with zeros for the others of its group."""
    size = next((each for each in range(2, isqrt(groups) + 1) if groups % each == 0), groups)
    channel = aten.arange(weight.shape[0], dtype=torch.int64) // (weight.shape[0] // groups)
    own = (channel % size).unsqueeze(1) == aten.arange(size, dtype=torch.int64).unsqueeze(0)
    own = own.reshape([*own.shape, *[1] * (weight.dim() - 2)])
    return groups // size, torch.where(own, weight, torch.zeros_like(weight))


def convolution_backward(
    gradient: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, output_mask: list[bool],
) -> Any:  # fmt: skip
    """Of a convolution in any number of groups, and of a transposed one, which is a convolution the other way round."""
    rank = x.dim() - 2
    stride, padding, dilation = (_each(given, rank) for given in (stride, padding, dilation))
    wide, narrow = (gradient, x) if transposed else (x, gradient)
    of_x = of_weight = of_bias = None
    if output_mask[0]:
        lost = [0] * rank if transposed else _lost(wide, narrow, weight, stride, padding, dilation)
        of_x = aten.convolution(gradient, weight, None, stride, padding, dilation, not transposed, lost, groups)
        for dimension, size in enumerate(x.shape[2:], 2):  # the output's padding may hold a window more
            of_x = of_x.narrow(dimension, 0, size)
    if output_mask[1]:
        of_weight = _gradient_of_weight(wide, narrow, weight, stride, padding, dilation, groups)
    if output_mask[2]:
        of_bias = gradient.sum([0, *range(2, gradient.dim())])
    return of_x, of_weight, of_bias


def _each(given: Any, rank: int) -> list[int]:
    """A setting of a convolution for each dimension of its images."""
    return [*given] * (rank if len(given) == 1 else 1)


def _lost(wide: Any, narrow: Any, weight: Any, stride: Any, padding: Any, dilation: Any) -> list[int]:
    """The places at the end of ``wide`` that no window of a convolution to ``narrow`` begins at."""
    rest = zip(wide.shape[2:], narrow.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    return [size - ((windows - 1) * s - 2 * p + d * (kernel - 1) + 1) for size, windows, kernel, s, p, d in rest]


def _gradient_of_weight(
    wide: Any, narrow: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """The gradient of the weight of a convolution from ``wide`` to ``narrow``.

    It is ``wide`` convolved with ``narrow``, where samples and channels change places, and so do strides and dilations.
    """
    samples, channels, *image = wide.shape
    apart = wide.reshape([samples, groups, channels // groups, *image]).movedim(0, 2).movedim(1, 0)
    apart = apart.reshape([channels // groups, groups * samples, *image])
    none = [0] * len(image)
    every = aten.convolution(apart, narrow.transpose(0, 1), None, dilation, padding, stride, False, none, groups)
    for dimension, size in enumerate(weight.shape[2:], 2):
        every = every.narrow(dimension, 0, size)
    return every.transpose(0, 1)
