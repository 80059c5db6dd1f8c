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


def make_f16_inputs(side: int) -> list[Array]:
    """The same inputs in 16 bits."""
    return [array.astype(np.float16) for array in make_inputs(side)]


def numpy_f16_form(*inputs: Array) -> tuple[Array, ...]:
    """By hand: in f32, rounded once at the end. NumPy's own float16 takes four times as long."""
    (result,) = numpy_form(*(array.astype(np.float32) for array in inputs))
    return (result.astype(np.float16),)


WORKLOAD = Workload(
    "elementwise_chain", "elementwise_chain", {"side": 4096}, {"side": 32}, make_inputs, numpy_form, jax_form
)

WORKLOAD_F16 = Workload(
    "elementwise_chain_f16",
    "elementwise_chain",
    {"side": 4096},
    {"side": 32},
    make_f16_inputs,
    numpy_f16_form,
    jax_form,
    element_type="f16",
    tolerance=1e-2,  # each of the operations is rounded, which neither of the others does
)
