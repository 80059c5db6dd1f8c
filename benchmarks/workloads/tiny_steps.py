"""A loop of many small steps, each three calls of NumPy: what a step costs beyond its arithmetic."""

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers

SIDE = 64
STEPS = 1000


def make_inputs() -> list[Array]:
    """State, weights, and what each step adds."""
    numbers = Numbers()
    return [numbers.normal(SIDE, SIDE), numbers.weights(SIDE, SIDE), numbers.normal(SIDE, SIDE, scale=0.1)]


def numpy_form(x: Array, w: Array, b: Array) -> tuple[Array, ...]:
    """By hand, with two arrays."""
    y = np.empty_like(x)
    x = x.copy()
    for _ in range(STEPS):
        np.matmul(x, w, out=y)
        np.tanh(y, out=y)
        np.add(y, b, out=x)
    return (x,)


def jax_form(x: Any, w: Any, b: Any) -> tuple[Any, ...]:
    """In JAX."""
    import jax
    import jax.numpy as jnp

    return (jax.lax.fori_loop(0, STEPS, lambda _, x: jnp.tanh(x @ w) + b, x),)


WORKLOAD = Workload(
    "tiny_steps",
    "tiny_steps",
    {},
    {},
    make_inputs,
    numpy_form,
    jax_form,
    tolerance=1e-2,
)
