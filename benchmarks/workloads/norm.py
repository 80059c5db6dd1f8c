"""Layer norm and softmax along the last dimension, shared by workloads; the NumPy forms work in place."""

from typing import Any

import numpy as np

from benchmarks.workload import Array

EPSILON = np.float32(1e-5)


def norm_in_place(x: Array, gain: Array, shift: Array) -> Array:
    """``(x - mean) / sqrt(variance + 1e-5) * gain + shift`` for rows of a matrix."""
    x -= x.mean(axis=1, keepdims=True)
    deviation = np.einsum("ij,ij->i", x, x)[:, None]
    deviation *= np.float32(1 / x.shape[1])
    deviation += EPSILON
    np.sqrt(deviation, out=deviation)
    x /= deviation
    x *= gain
    x += shift
    return x


def softmax_in_place(x: Array) -> Array:
    """Softmax along the last dimension."""
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


def norm_jax(x: Any, gain: Any, shift: Any) -> Any:
    """Layer norm in JAX."""
    import jax

    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * gain + shift


def softmax_jax(x: Any) -> Any:
    """Softmax in JAX."""
    import jax.numpy as jnp

    exponential = jnp.exp(x - x.max(-1, keepdims=True))
    return exponential / exponential.sum(-1, keepdims=True)
