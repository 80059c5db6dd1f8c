"""A long element-wise expression on 16 million elements: gelu(x * scale + shift) * sigmoid(x)."""

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers
from benchmarks.workloads.gelu import gelu_factor, gelu_jax


def make_inputs(side: int) -> list[Array]:
    """A square matrix, and scale and shift of its columns."""
    numbers = Numbers()
    return [numbers.normal(side, side), numbers.normal(side), numbers.normal(side)]


def numpy_form(x: Array, scale: Array, shift: Array) -> tuple[Array, ...]:
    """By hand, with two arrays of the size of ``x``."""
    u = x * scale
    u += shift
    t = np.empty_like(x)
    u *= gelu_factor(u, out=t)
    np.negative(x, out=t)
    np.exp(t, out=t)
    t += np.float32(1)
    t *= np.float32(2)  # the half of gelu
    u /= t
    return (u,)


def jax_form(x: Any, scale: Any, shift: Any) -> tuple[Any, ...]:
    """In JAX."""
    import jax

    return (gelu_jax(x * scale + shift) * jax.nn.sigmoid(x),)


WORKLOAD = Workload(
    "elementwise_chain", "elementwise_chain", {"side": 4096}, {"side": 32}, make_inputs, numpy_form, jax_form
)
