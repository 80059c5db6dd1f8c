"""The tanh form of gelu, shared by workloads."""

from typing import Any

import numpy as np

from benchmarks.workload import Array

ROOT_2_OVER_PI = np.float32(0.7978845608)
CUBIC = np.float32(0.044715)


def gelu_factor(u: Array, out: Array) -> Array:
    """``1 + tanh(sqrt(2 / pi) * (u + 0.044715 * u**3))`` into ``out``; half of it times ``u`` is gelu."""
    np.multiply(u, u, out=out)
    out *= ROOT_2_OVER_PI * CUBIC
    out += ROOT_2_OVER_PI
    out *= u
    np.tanh(out, out=out)
    out += np.float32(1)
    return out


def gelu_jax(x: Any) -> Any:
    """gelu in JAX."""
    import jax

    return jax.nn.gelu(x, approximate=True)
