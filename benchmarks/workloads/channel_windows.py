"""A convolution in which each channel has a window of its own, 3 x 3, channels last."""

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers

SIDE, CHANNELS, TAPS = 30, 64, 3


def make_inputs(batch: int) -> list[Array]:
    """Images and filters."""
    numbers = Numbers()
    return [numbers.normal(batch, SIDE, SIDE, CHANNELS), numbers.normal(TAPS, TAPS, CHANNELS, scale=1 / TAPS)]


def numpy_form(x: Array, filters: Array) -> tuple[Array, ...]:
    """By hand: one product and one sum per tap."""
    size = SIDE - TAPS + 1
    out = x[:, :size, :size] * filters[0, 0]
    term = np.empty_like(out)
    for row in range(TAPS):
        for column in range(TAPS):
            if row or column:
                np.multiply(x[:, row : row + size, column : column + size], filters[row, column], out=term)
                out += term
    return (out,)


def jax_form(x: Any, filters: Any) -> tuple[Any, ...]:
    """In JAX."""
    import jax

    numbers = ("NHWC", "HWIO", "NHWC")
    filters = filters.reshape(TAPS, TAPS, 1, CHANNELS)
    groups = {"dimension_numbers": numbers, "feature_group_count": CHANNELS}
    return (jax.lax.conv_general_dilated(x, filters, (1, 1), "VALID", **groups),)


WORKLOAD = Workload("channel_windows", "channel_windows", {"batch": 8}, {"batch": 1}, make_inputs, numpy_form, jax_form)
