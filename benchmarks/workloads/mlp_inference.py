"""Three dense layers with relu."""

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers

LAYERS = ((784, 256), (256, 128), (128, 10))


def parameters(numbers: Numbers) -> list[Array]:
    """Weights and bias of each layer."""
    return [array for size in LAYERS for array in (numbers.weights(*size), numbers.near_zero(size[1]))]


def make_inputs(batch: int) -> list[Array]:
    """Images and parameters."""
    numbers = Numbers()
    return [numbers.normal(batch, LAYERS[0][0]), *parameters(numbers)]


def numpy_form(x: Array, w1: Array, b1: Array, w2: Array, b2: Array, w3: Array, b3: Array) -> tuple[Array, ...]:
    """By hand."""
    h = x @ w1
    h += b1
    np.maximum(h, 0, out=h)
    h = h @ w2
    h += b2
    np.maximum(h, 0, out=h)
    h = h @ w3
    h += b3
    return (h,)


def jax_form(x: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> tuple[Any, ...]:
    """In JAX."""
    import jax.numpy as jnp

    h = jnp.maximum(x @ w1 + b1, 0)
    h = jnp.maximum(h @ w2 + b2, 0)
    return (h @ w3 + b3,)


def at_batch(batch: int) -> Workload:
    """The workload on ``batch`` images."""
    return Workload(
        f"mlp_inference_b{batch}",
        "mlp_inference",
        {"batch": batch},
        {"batch": 4},
        make_inputs,
        numpy_form,
        jax_form,
    )
