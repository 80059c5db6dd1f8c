"""Convolutions of traced tensors, channels first."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing.emit import Loop, Sum, structured
from ipu_mlir.tracing.pairs import complex_of, part
from ipu_mlir.tracing.scalar_ops import BODIES


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


def padded(x: Any, pairs: Sequence[tuple[int, int]]) -> Any:
    """With zeros around the images; negative numbers cut off."""
    grown = [(0, 0), (0, 0), *((max(0, low), max(0, high)) for low, high in pairs)]
    x = np.pad(x, grown) if any(map(any, grown)) else x
    cut = [slice(max(0, -low), size - max(0, -high)) for (low, high), size in zip(pairs, x.shape[2:], strict=True)]
    return x[(slice(None), slice(None), *cut)]


def spread(x: Any, stride: Sequence[int]) -> Any:
    """Images with ``stride - 1`` zeros between the elements of each dimension."""
    if all(step == 1 for step in stride):
        return x
    sizes = [(size - 1) * step + 1 for size, step in zip(x.shape[2:], stride, strict=True)]
    empty = x.program.constant(np.zeros((*x.shape[:2], *sizes), x.dtype))
    return empty.at[(slice(None), slice(None), *(slice(None, None, step) for step in stride))].set(x)


def transposed_convolution(
    x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, more: Sequence[int], groups: int
) -> Any:
    """What a convolution with ``weight`` would have made ``x`` of; its gradient for its input."""
    kernel = weight.shape[2:]
    reach = [apart * (width - 1) for apart, width in zip(dilation, kernel, strict=True)]
    pads = [(each - pad, each - pad + extra) for each, pad, extra in zip(reach, padding, more, strict=True)]
    return convolve(padded(spread(x, stride), pads), _turned(weight, groups), [1] * len(kernel), dilation, groups)


def _turned(weight: Any, groups: int) -> Any:
    """The windows backwards, and of each group filters as channels and channels as filters."""
    filters, inner, *kernel = weight.shape
    apart = np.reshape(weight, (groups, filters // groups, inner, *kernel))
    turned = np.reshape(np.swapaxes(apart, 1, 2), (groups * inner, filters // groups, *kernel))
    return np.flip(turned, tuple(range(2, 2 + len(kernel))))
