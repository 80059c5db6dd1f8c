"""Convolutions and pooling: windows that slide over the dimensions between the first, of examples, and the last one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.specs.tensor_types import kind_of, limits_of
from ipu_mlir.tracing.elementwise import astype
from ipu_mlir.tracing.emit import Loop, Sum, empty, structured
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.padding import pad_with
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import common_dtype, tensor, trace_of
from ipu_mlir.tracing.scalar_ops import BODIES

Sizes = int | Sequence[int]
Padding = str | Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Windows:
    """How windows slide over the dimensions between the first and the last.

    Attributes:
        sizes: of a window, a number for each such dimension.
        strides: from one window to the next.
        dilation: from one element of a window to the next.
        padding: elements before and behind, for each dimension.
        counts: of windows.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    counts: tuple[int, ...]

    @property
    def widths(self) -> list[tuple[int, int]]:
        """The widths of the padding, for all dimensions of a tensor."""
        return [(0, 0), *self.padding, (0, 0)]

    def elements(self, padded: np.ndarray) -> np.ndarray:
        """All windows of an array with its padding, their dimensions at the end."""
        reach = [(size - 1) * step + 1 for size, step in zip(self.sizes, self.dilation, strict=True)]
        axes = tuple(range(1, len(reach) + 1))
        whole = np.lib.stride_tricks.sliding_window_view(padded, reach, axes)
        strided = [slice(None, None, step) for step in self.strides]
        dilated = [slice(None, None, step) for step in self.dilation]
        return whole[(slice(None), *strided, slice(None), *dilated)]


def convolution(
    x: Any, w: Any, *, strides: Sizes = 1, padding: Padding = "valid", dilation: Sizes = 1, groups: int = 1
) -> Any:
    """Sums of products of ``w`` with windows of ``x``.

    Args:
        x: shape ``(batch, *sizes, channels)``.
        w: shape ``(*window, channels / groups, filters)``.
        padding: ``valid`` for none, ``same`` for a result of ``ceil(size / stride)``, or a pair of numbers of zeros
            before and behind for each size.
        groups: filters come in so many groups, each of which sees its own channels only.

    Returns:
        shape ``(batch, *counts, filters)``.

    Raises:
        ValueError: shapes that do not fit.
    """
    shape, kernel = np.shape(x), np.shape(w)
    name = f"a convolution of shape {shape} with windows of shape {kernel}"
    if len(shape) < 3 or len(kernel) != len(shape):
        raise TraceValueError(f"{name}: take (batch, *sizes, channels) and (*window, channels / groups, filters)")
    channels, filters = shape[-1], kernel[-1]
    if groups < 1 or channels % groups or filters % groups or kernel[-2] * groups != channels:
        raise TraceValueError(
            f"{name}: {channels} channels and {filters} filters in {groups} groups take windows of "
            f"{channels / groups:g} channels, not of {kernel[-2]}"
        )
    windows = windows_of(name, shape, kernel[:-2], strides, padding, dilation)
    split = (groups, channels // groups), (groups, filters // groups)
    if not any(isinstance(each, Symbol) for each in (x, w)):
        found = windows.elements(np.pad(x, windows.widths)).reshape(-1, *windows.counts, *split[0], *kernel[:-2])
        grouped = np.reshape(w, (*kernel[:-1], *split[1]))
        letters = "uvwxyz"[: len(kernel) - 2]
        summed = np.einsum(f"...gc{letters},{letters}cgf->...gf", found, grouped)
        return summed.reshape(shape[0], *windows.counts, filters)
    trace = trace_of((x, w))
    x, w = tensor(trace, x), tensor(trace, w)
    dtype = common_dtype([x, w])
    if dtype.kind == "c":
        raise TraceTypeError(f"{name}: of {dtype} there is none; convolve real and imaginary parts")
    padded, w = pad_with(astype(x, dtype), windows.widths, 0), astype(w, dtype)
    if groups > 1:
        padded = padded.reshape((*padded.shape[:-1], *split[0]))
        w = w.reshape((*kernel[:-1], *split[1]))
    space, outer = len(windows.counts), [groups] if groups > 1 else []
    sizes = [shape[0], *windows.counts, *outer, filters // groups]
    loops = [*map(Loop, sizes), *(Loop(size, "reduction") for size in (*windows.sizes, channels // groups))]
    inner = len(sizes)
    group = list(range(space + 1, space + 1 + len(outer)))
    slide = [Sum((1 + k, inner + k), (windows.strides[k], windows.dilation[k])) for k in range(space)]
    inputs = [
        (padded, (0, *slide, *group, inner + space)),
        (w, (*range(inner, inner + space + 1), *group, inner - 1)),
    ]
    multiply, add = (BODIES[each].for_kind(kind_of(dtype)) for each in ("multiply", "add"))
    assert multiply is not None and add is not None, "all other element types have sums and products"

    def code(left: ir.Value, right: ir.Value, so_far: ir.Value) -> ir.Value:
        return add(so_far, multiply(left, right))

    found = structured(trace, "convolution", inputs, loops, tuple(range(inner)), dtype, code, 0)
    return found.reshape((shape[0], *windows.counts, filters)) if groups > 1 else found


def max_pool(x: Any, window: Sizes, *, strides: Sizes | None = None, padding: Padding = "valid") -> Any:
    """The largest element of each window, channel by channel; windows stand side by side if ``strides`` is not given.

    Args:
        x: shape ``(batch, *sizes, channels)``.
        padding: as of ``convolution``; what is put around is smaller than all elements.

    Raises:
        ValueError: shapes that do not fit.
    """
    return _pool("maximum", x, window, strides, padding)


def mean_pool(x: Any, window: Sizes, *, strides: Sizes | None = None, padding: Padding = "valid") -> Any:
    """As ``max_pool``, but the mean of those elements of a window that are not padding."""
    shape = np.shape(x)
    windows = _pool_windows(x, window, strides, padding)
    dtype = np.result_type(x)
    inside = np.pad(np.ones((1, *shape[1:-1], 1)), windows.widths)
    counts = windows.elements(inside).sum(axis=tuple(range(-len(windows.sizes), 0)))
    return _pool("add", x, window, strides, padding) * (1 / counts).astype(dtype)


def windows_of(
    name: str, shape: Sequence[int], window: Sizes, strides: Sizes, padding: Padding, dilation: Sizes
) -> Windows:
    """Windows over a tensor of ``shape``.

    Raises:
        TraceValueError: a number that is not for each dimension, or not above 0, or a window larger than the tensor.
    """
    space = shape[1:-1]
    sizes, steps, apart = (
        _each(name, what, given, len(space))
        for what, given in (("window", window), ("strides", strides), ("dilation", dilation))
    )
    reach = [(size - 1) * step + 1 for size, step in zip(sizes, apart, strict=True)]
    around = _padding(name, padding, space, reach, steps)
    whole = [size + sum(pair) for size, pair in zip(space, around, strict=True)]
    if any(one > other for one, other in zip(reach, whole, strict=True)):
        raise TraceValueError(f"{name}: windows reach over {tuple(reach)} of {tuple(whole)} elements; add padding")
    counts = tuple((one - other) // step + 1 for one, other, step in zip(whole, reach, steps, strict=True))
    return Windows(sizes, steps, apart, around, counts)


def _padding(
    name: str, padding: Padding, space: Sequence[int], reach: Sequence[int], steps: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    if padding == "valid":
        return ((0, 0),) * len(space)
    if padding == "same":
        missing = [
            max((math.ceil(size / step) - 1) * step + needed - size, 0)
            for size, needed, step in zip(space, reach, steps, strict=True)
        ]
        return tuple((each // 2, each - each // 2) for each in missing)
    pairs = None if isinstance(padding, str | int) else [tuple(each) for each in padding if np.size(each) == 2]
    if pairs is None or len(pairs) != len(space) or any(number < 0 for pair in pairs for number in pair):
        raise TraceValueError(
            f"{name}: padding={padding!r}; it is 'valid', 'same' or {len(space)} pairs of numbers before and behind"
        )
    return tuple((int(before), int(behind)) for before, behind in pairs)


def _each(name: str, what: str, given: Sizes, count: int) -> tuple[int, ...]:
    """A number for each of ``count`` dimensions."""
    found = (given,) * count if isinstance(given, int) else tuple(given)
    if len(found) != count or any(not isinstance(each, int | np.integer) or each < 1 for each in found):
        raise TraceValueError(f"{name}: {what}={given!r}; give a number above 0, or {count} of them")
    return tuple(int(each) for each in found)


def _pool_windows(x: Any, window: Sizes, strides: Sizes | None, padding: Padding) -> Windows:
    shape = np.shape(x)
    name = f"pooling of shape {shape}"
    if len(shape) < 3:
        raise TraceValueError(f"{name}: take (batch, *sizes, channels)")
    return windows_of(name, shape, window, window if strides is None else strides, padding, 1)


def _pool(combine: str, x: Any, window: Sizes, strides: Sizes | None, padding: Padding) -> Any:
    windows = _pool_windows(x, window, strides, padding)
    dtype = np.result_type(x)
    if kind_of(dtype) != "f":
        raise TraceTypeError(f"pooling of {dtype} is not supported; use astype(np.float32)")
    neutral = 0 if combine == "add" else limits_of(dtype)[0]
    space = len(windows.sizes)
    if not isinstance(x, Symbol):
        padded = np.pad(x, windows.widths, constant_values=neutral)
        return getattr(np, combine).reduce(windows.elements(padded), axis=tuple(range(-space, 0)))
    padded = pad_with(x, windows.widths, np.asarray(neutral, dtype)[()])
    with x.program.emit("pool"):
        window_alone = x.program.wrap(empty(windows.sizes, dtype), windows.sizes, dtype)
    sizes = [x.shape[0], *windows.counts, x.shape[-1]]
    loops = [*map(Loop, sizes), *(Loop(size, "reduction") for size in windows.sizes)]
    inner = len(sizes)
    slide = [Sum((1 + k, inner + k), (windows.strides[k], 1)) for k in range(space)]
    body = BODIES[combine].for_kind(kind_of(dtype))
    assert body is not None, "numbers have sums and an order"
    inputs = [(padded, (0, *slide, inner - 1)), (window_alone, tuple(range(inner, inner + space)))]
    return structured(
        x.program,
        "pool",
        inputs,
        loops,
        tuple(range(inner)),
        dtype,
        lambda element, _, so_far: body(so_far, element),
        neutral,
    )
