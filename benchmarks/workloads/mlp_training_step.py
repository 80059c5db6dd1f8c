"""One step of gradient descent on three dense layers with relu and cross entropy."""

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers
from benchmarks.workloads.mlp_inference import LAYERS, parameters

RATE = np.float32(0.01)


def make_inputs(batch: int) -> list[Array]:
    """Images, labels and parameters."""
    numbers = Numbers()
    return [numbers.normal(batch, LAYERS[0][0]), numbers.classes(LAYERS[-1][1], batch), *parameters(numbers)]


def numpy_form(
    x: Array, labels: Array, w1: Array, b1: Array, w2: Array, b2: Array, w3: Array, b3: Array
) -> tuple[Array, ...]:
    """By hand."""
    batch = len(x)
    h1 = x @ w1
    h1 += b1
    np.maximum(h1, 0, out=h1)
    h2 = h1 @ w2
    h2 += b2
    np.maximum(h2, 0, out=h2)
    z = h2 @ w3
    z += b3

    z -= z.max(axis=1, keepdims=True)
    each = np.arange(batch)
    scores = z[each, labels]
    np.exp(z, out=z)
    sums = z.sum(axis=1)
    loss = (np.log(sums) - scores).mean()

    z /= sums[:, None]
    z[each, labels] -= 1
    z *= np.float32(1 / batch)
    d2 = z @ w3.T
    d2 *= h2 > 0
    d1 = d2 @ w2.T
    d1 *= h1 > 0
    gradients = (x.T @ d1, d1.sum(axis=0), h1.T @ d2, d2.sum(axis=0), h2.T @ z, z.sum(axis=0))
    for gradient, parameter in zip(gradients, (w1, b1, w2, b2, w3, b3), strict=True):
        gradient *= -RATE
        gradient += parameter
    return (loss, *gradients)


def jax_form(x: Any, labels: Any, *parameters: Any) -> tuple[Any, ...]:
    """In JAX."""
    import jax
    import jax.numpy as jnp

    def loss(parameters: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h = jnp.maximum(x @ w1 + b1, 0)
        h = jnp.maximum(h @ w2 + b2, 0)
        z = h @ w3 + b3
        z = z - jax.lax.stop_gradient(z.max(1, keepdims=True))
        hot = (labels[:, None] == jnp.arange(z.shape[1], dtype=jnp.int32)).astype(z.dtype)
        return (jnp.log(jnp.exp(z).sum(1)) - (z * hot).sum(1)).mean()

    value, gradients = jax.value_and_grad(loss)(parameters)
    return (value, *(p - RATE * g for p, g in zip(parameters, gradients, strict=True)))


def at_batch(batch: int) -> Workload:
    """The workload on ``batch`` images."""
    return Workload(
        f"mlp_training_step_b{batch}",
        "mlp_training_step",
        {"batch": batch},
        {"batch": 4},
        make_inputs,
        numpy_form,
        jax_form,
    )
