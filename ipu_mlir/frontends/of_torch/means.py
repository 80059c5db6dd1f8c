"""Means of PyTorch over windows, and their gradients, as ops that torch-mlir lowers."""

from collections.abc import Sequence
from typing import Any

import torch

aten = torch.ops.aten


def mean_of_windows(x: Any, kernel: Sequence[int], *settings: Any, **more: Any) -> Any:
    """Of one image alone, as of a batch of one."""
    if x.dim() != len(kernel) + 1:
        return NotImplemented
    pool = aten.avg_pool2d if len(kernel) == 2 else aten.avg_pool3d
    return pool(x.unsqueeze(0), kernel, *settings, **more).squeeze(0)


def mean_of_windows_backward(
    gradient: Any, x: Any, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], ceil: bool,
    with_border: bool, divisor: int | None = None,
) -> Any:  # fmt: skip
    """Each window's share to all of its elements: a transposed convolution with ones, one image after another."""
    rank = len(kernel)
    sides = x.shape[-rank:]
    settings = list(zip(sides, gradient.shape[-rank:], kernel, stride or kernel, padding, strict=True))
    for dimension, each in enumerate(settings):
        if divisor is None:
            count = _elements(*each, with_border).reshape([-1, *[1] * (rank - 1 - dimension)])
            gradient = gradient / count.to(gradient.dtype)
    images = (gradient / (divisor or 1)).reshape([-1, 1, *gradient.shape[-rank:]])
    ones, none, one = torch.ones([1, 1, *kernel], dtype=x.dtype), [0] * rank, [1] * rank
    whole = aten.convolution(images, ones, None, stride or kernel, none, one, True, none, 1)
    for dimension, (size, _, _, _, border) in enumerate(settings, 2):
        missing = max(0, border + size - whole.shape[dimension])  # elements of no window
        pads = [0, 0] * (rank + 1 - dimension) + [0, missing]
        whole = aten.constant_pad_nd(whole, pads).narrow(dimension, border, size)
    return whole.reshape(x.shape)


def _elements(size: int, windows: int, kernel: int, stride: int, padding: int, with_border: bool) -> Any:
    """The numbers of elements in the windows of a dimension; no window has those beyond the border."""
    first = aten.arange(windows, dtype=torch.int64) * stride - padding
    last = (first + kernel).clamp(max=size + padding)
    return last - first if with_border else last.clamp(max=size) - first.clamp(min=0)


def adaptive_mean_backward(gradient: Any, x: Any, rank: int) -> Any:
    for dimension in range(-rank, 0):
        shares = _shares(x.shape[dimension], gradient.shape[dimension], x.dtype)
        gradient = (gradient.movedim(dimension, -1) @ shares).movedim(-1, dimension)
    return gradient


def adaptive_mean(x: Any, sizes: list[int]) -> Any:
    """Of volumes, of one image alone, or with windows of several lengths, none of which torch-mlir lowers."""
    if x.dim() == 4 and len(sizes) == 2 and all(own % size == 0 for size, own in zip(sizes, x.shape[-2:], strict=True)):
        return NotImplemented
    for dimension, size in zip(range(-len(sizes), 0), sizes, strict=True):
        shares = _shares(x.shape[dimension], size, x.dtype)
        x = (x.movedim(dimension, -1) @ shares.T).movedim(-1, dimension)
    return x


def _shares(size: int, windows: int, dtype: Any) -> Any:
    """The shares of the elements of a row in the means of windows, whose ends lie as far apart as possible."""
    place = aten.arange(size, dtype=torch.int64).unsqueeze(0)
    window = aten.arange(windows, dtype=torch.int64).unsqueeze(1)
    first, last = window * size // windows, ((window + 1) * size + windows - 1) // windows
    return torch.where((place >= first) & (place < last), 1.0 / (last - first), 0.0).to(dtype)
