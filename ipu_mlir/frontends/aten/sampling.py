"""Images at places that are computed: ``grid_sample`` and its gradients."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import rule
from ipu_mlir.frontends.support.sampling import (
    Tap,
    gradient_of_image,
    gradient_of_places,
    sampled,
    taps,
    unnormalized,
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
