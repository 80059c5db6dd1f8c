"""Images in other sizes: each row is a sum of rows, by a matrix that PyTorch gives; and at places that are computed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ipu_mlir.frontends.aten.rules import OpRule, constant, rule
from ipu_mlir.frontends.support.sampling import (
    Tap,
    gradient_of_image,
    gradient_of_places,
    sampled,
    taps,
    unnormalized,
)

aten = torch.ops.aten
Interpolation = Callable[[torch.Tensor, int], torch.Tensor]


def _shares(size: int, made: int, interpolate: Interpolation) -> np.ndarray:
    """The share of each of ``size`` rows in each of ``made`` ones: what images with one row of ones give."""
    images = torch.eye(size, dtype=torch.float64)[None, :, :, None].repeat(
        1, 1, 1, 2
    )  # of one column, PyTorch would take strides wrongly
    return interpolate(images, made)[0, :, :, 0].numpy().T


def _along(x: Any, dimension: int, shares: np.ndarray) -> Any:
    moved = np.matmul(np.moveaxis(x, dimension, -1), constant(shares.T, x.dtype))
    return np.moveaxis(moved, -1, dimension)


def _interpolation(op: Any, align_corners: bool, scale: float | None) -> Interpolation:
    return lambda image, size: op(image, [size, 2], align_corners, scale, None)


def _linear(align_corners: bool, scale: float | None) -> Interpolation:
    return lambda image, size: aten.upsample_linear1d(image[..., 0], [size], align_corners, scale)[..., None]


def _backward(gradient: Any, sizes: Sequence[int], each: Sequence[Interpolation]) -> Any:
    rank = len(each)
    for dimension, interpolate in zip(range(-rank, 0), each, strict=True):
        shares = _shares(sizes[dimension], gradient.shape[dimension], interpolate)
        gradient = _along(gradient, dimension, shares.T)
    return gradient


def _forward(x: Any, sizes: Sequence[int], each: Sequence[Interpolation]) -> Any:
    for dimension, size, interpolate in zip(range(-len(each), 0), sizes, each, strict=True):
        x = _along(x, dimension, _shares(x.shape[dimension], size, interpolate))
    return x


def _forward_of_bytes(x: Any, sizes: Sequence[int], each: Sequence[Interpolation]) -> Any:
    """The last dimension first, rounded to bytes, with shares that are whole numbers by a power of two.

    Source: aten/src/ATen/native/cpu/UpSampleKernelAVXAntialias.h, whose sums of 32 bits float32 has exactly.
    """
    found = x.astype(np.float32)
    for dimension, interpolate in zip(range(-1, -len(each) - 1, -1), reversed(each), strict=True):
        shares = _shares(x.shape[dimension], sizes[dimension], interpolate)
        bits = int(np.floor(np.log2((_MOST_SHARE - 0.5) / shares.max())))
        whole = np.trunc(shares * 2.0**bits + np.copysign(0.5, shares)) / 2.0**bits
        found = np.clip(np.floor(_along(found, dimension, whole) + np.float32(0.5)), 0, 255)
    return found.astype(x.dtype)


_MOST_SHARE = 1 << 15


def _of_bytes(name: str) -> OpRule:
    op = getattr(aten, name).default

    def forward(x: Any, sizes: Any, align: bool, high: Any = None, wide: Any = None) -> Any:
        return _forward_of_bytes(x, sizes, [_interpolation(op, align, scale) for scale in (high, wide)])

    return rule(f"{name}.default")(forward)


_UPSAMPLE_BYTES = tuple(map(_of_bytes, ("upsample_bilinear2d", "upsample_bicubic2d")))


def decompositions(known: Mapping[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """Those of images in other sizes among the ``known`` ones, for all but images of bytes."""

    def of_floats(how: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *args, **kwargs: NotImplemented if x.dtype == torch.uint8 else how(x, *args, **kwargs)

    ops = (aten.upsample_bilinear2d.default, aten.upsample_bicubic2d.default)
    return {op: of_floats(known[op]) for op in ops}


@rule("upsample_linear1d_backward.default")
def _linear_backward(gradient: Any, size: Any, sizes: Any, align: bool, scale: Any = None) -> Any:
    return _backward(gradient, sizes, [_linear(align, scale)])


@rule("upsample_bilinear2d_backward.default")
def _bilinear_backward(gradient: Any, size: Any, sizes: Any, align: bool, high: Any = None, wide: Any = None) -> Any:
    return _backward(gradient, sizes, [_linear(align, high), _linear(align, wide)])


@rule("upsample_trilinear3d_backward.default")
def _trilinear_backward(
    gradient: Any, size: Any, sizes: Any, align: bool, deep: Any = None, high: Any = None, wide: Any = None
) -> Any:
    return _backward(gradient, sizes, [_linear(align, each) for each in (deep, high, wide)])


@rule("upsample_bicubic2d_backward.default")
def _bicubic_backward(gradient: Any, size: Any, sizes: Any, align: bool, high: Any = None, wide: Any = None) -> Any:
    each = [_interpolation(aten.upsample_bicubic2d, align, scale) for scale in (high, wide)]
    return _backward(gradient, sizes, each)


def _antialiased(name: str) -> tuple[OpRule, OpRule]:
    op = getattr(aten, name).default

    def forward(x: Any, sizes: Any, align: bool, high: Any = None, wide: Any = None) -> Any:
        each = [_interpolation(op, align, scale) for scale in (high, wide)]
        return (_forward_of_bytes if x.dtype == np.uint8 else _forward)(x, sizes, each)

    def backward(gradient: Any, size: Any, sizes: Any, align: bool, high: Any = None, wide: Any = None) -> Any:
        return _backward(gradient, sizes, [_interpolation(op, align, scale) for scale in (high, wide)])

    return rule(f"{name}.default")(forward), rule(f"{name}_backward.default")(backward)


_ANTIALIASED = (*_antialiased("_upsample_bilinear2d_aa"), *_antialiased("_upsample_bicubic2d_aa"))


def _nearest(name: str, rank: int) -> tuple[OpRule, OpRule]:
    op = getattr(aten, name).default

    def forward(x: Any, sizes: Any, *scales: Any) -> Any:
        given = [*scales, *[None] * (rank - len(scales))]
        for dimension, size, scale in zip(range(-rank, 0), sizes, given, strict=True):
            rows = torch.arange(x.shape[dimension], dtype=torch.float64).reshape([1, 1, -1, 1])
            places = _one_of(op, rank, scale)(rows, size).reshape([-1]).numpy().astype(np.int64)
            x = np.take(x, places, axis=dimension)
        return x

    def backward(gradient: Any, size: Any, sizes: Any, *scales: Any) -> Any:
        given = [*scales, *[None] * (rank - len(scales))]
        return _backward(gradient, sizes, [_one_of(op, rank, scale) for scale in given])

    return rule(f"{name}.default")(forward), rule(f"{name}_backward.default")(backward)


def _one_of(op: Any, rank: int, scale: float | None) -> Interpolation:
    """One dimension of an op on ``rank``, all others of one element."""

    def interpolate(image: torch.Tensor, size: int) -> torch.Tensor:
        column = image[..., 0].reshape([*image.shape[:3], *[1] * (rank - 1)])
        return op(column, [size, *[1] * (rank - 1)], scale, *[None] * (rank - 1)).reshape([*image.shape[:2], size, 1])

    return interpolate


_NEAREST = tuple(
    each
    for rank in (1, 2, 3)
    for kind in ("upsample_nearest", "_upsample_nearest_exact")
    for each in _nearest(f"{kind}{rank}d", rank)
)


_KINDS = ("linear", "nearest", "cubic")
_OUTSIDE = ("zeros", "border", "reflection")


def _around(x: Any, grid: Any, kind: int, outside: int, align_corners: bool) -> list[list[Tap]]:
    """The elements around each place of ``grid``, whose last dimension has places from the last dimension on."""
    sizes = x.shape[2:]
    return [
        taps(
            unnormalized(grid[..., len(sizes) - 1 - axis], size, align_corners),
            size,
            _KINDS[kind],
            _OUTSIDE[outside],
            align_corners,
        )
        for axis, size in enumerate(sizes)
    ]


@rule("grid_sampler_2d.default", "grid_sampler_3d.default")
def _grid_sampler(x: Any, grid: Any, kind: int, outside: int, align_corners: bool) -> Any:
    return sampled(x, _around(x, grid, kind, outside, align_corners))


@rule("grid_sampler_2d_backward.default", "grid_sampler_3d_backward.default")
def _grid_sampler_backward(
    gradient: Any, x: Any, grid: Any, kind: int, outside: int, align_corners: bool, output_mask: Sequence[bool]
) -> Any:
    around = _around(x, grid, kind, outside, align_corners)
    of_image = gradient_of_image(gradient, x.shape, around) if output_mask[0] else None
    if not output_mask[1]:
        return of_image, None
    sizes = x.shape[2:]
    steps = [0.5 * (size - 1 if align_corners else size) for size in sizes]
    each = [found * step for found, step in zip(gradient_of_places(gradient, x, around), steps, strict=True)]
    return of_image, np.stack(each[::-1], axis=-1)
