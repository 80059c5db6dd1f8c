"""A 3 x 3 convolution, bias, relu and 2 x 2 max-pool, channels last."""

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers

SIDE, CHANNELS, TAPS = 56, 64, 3


def make_inputs(batch: int) -> list[Array]:
    """Images, filters and bias."""
    numbers = Numbers()
    return [
        numbers.normal(batch, SIDE, SIDE, CHANNELS),
        numbers.normal(TAPS, TAPS, CHANNELS, CHANNELS, scale=(TAPS * TAPS * CHANNELS) ** -0.5),
        numbers.near_zero(CHANNELS),
    ]


def numpy_form(x: Array, filters: Array, bias: Array) -> tuple[Array, ...]:
    """By hand: the taps along a row are laid side by side, then one product per row of taps and image."""
    batch, height, width, channels = x.shape
    padded = np.zeros((batch, height + 2, width + 2, channels), x.dtype)
    padded[:, 1:-1, 1:-1] = x
    side_by_side = np.empty((batch, height + 2, width, TAPS * channels), x.dtype)
    for tap in range(TAPS):
        side_by_side[..., tap * channels : (tap + 1) * channels] = padded[:, :, tap : tap + width]
    rows_of_taps = filters.reshape(TAPS, TAPS * channels, -1)
    out = np.empty((batch, height * width, filters.shape[3]), x.dtype)
    more = np.empty_like(out[0])
    for image, result in zip(side_by_side, out, strict=True):
        np.matmul(image[:height].reshape(height * width, -1), rows_of_taps[0], out=result)
        for tap in range(1, TAPS):
            np.matmul(image[tap : tap + height].reshape(height * width, -1), rows_of_taps[tap], out=more)
            result += more
    windows = out.reshape(batch, height // 2, 2, width // 2, 2, -1)
    pooled = np.maximum(windows[:, :, 0], windows[:, :, 1])
    pooled = np.maximum(pooled[:, :, :, 0], pooled[:, :, :, 1])
    pooled += bias  # bias and relu grow with their input: they may follow the maximum
    np.maximum(pooled, 0, out=pooled)
    return (pooled,)


def jax_form(x: Any, filters: Any, bias: Any) -> tuple[Any, ...]:
    """In JAX."""
    import jax
    import jax.numpy as jnp

    y = jax.lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    y = jnp.maximum(y + bias, 0)
    return (jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),)


WORKLOAD = Workload(
    "conv_block", "conv_block", {"batch": 8}, {"batch": 1}, make_inputs, numpy_form, jax_form, tolerance=1e-3
)
