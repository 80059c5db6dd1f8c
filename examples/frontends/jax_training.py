"""Training in JAX with an optimizer as optax writes them: pytrees of parameters and state, 200 steps in one run.

python examples/frontends/jax_training.py
"""

import jax
import jax.numpy as jnp

import ipu_mlir as ipu


def adam(rate: float, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8):
    """An optimizer: ``init(params) -> state`` and ``update(grads, state) -> (changes, state)``."""

    def init(params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"step": jnp.int32(0), "mean": zeros, "square": zeros}

    def update(grads, state):
        step = state["step"] + 1
        mean = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state["mean"], grads)
        square = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state["square"], grads)
        scale = rate * jnp.sqrt(1 - b2**step) / (1 - b1**step)
        changes = jax.tree.map(lambda m, v: -scale * m / (jnp.sqrt(v) + eps), mean, square)
        return changes, {"step": step, "mean": mean, "square": square}

    return init, update


def loss_of(params, x, y):
    """Mean squared error of two layers."""
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] + params["b2"] - y) ** 2)


def train(params, state, x, y):
    """Parameters, state and losses after 200 steps."""
    _, update = adam(0.05)

    def step(carried, _):
        params, state = carried
        loss, grads = jax.value_and_grad(loss_of)(params, x, y)
        changes, state = update(grads, state)
        return (jax.tree.map(jnp.add, params, changes), state), loss

    (params, state), losses = jax.lax.scan(step, (params, state), None, length=200)
    return params, state, losses


def main() -> None:
    """Compile, train, and compare with JAX."""
    keys = jax.random.split(jax.random.key(0), 2)
    params = {
        "w1": jax.random.normal(keys[0], (1, 16)),
        "b1": jnp.zeros(16),
        "w2": jax.random.normal(keys[1], (16, 1)) / 4,
        "b2": jnp.zeros(1),
    }
    x = jnp.linspace(-1, 3, 32)[:, None]
    y = jnp.sin(2 * x)
    state = adam(0.05)[0](params)
    exe = ipu.compile(train, args=[params, state, x, y], target=ipu.Target(tiles_per_ipu=16))
    trained, _, losses = exe(params, state, x, y)
    _, _, expected = jax.jit(train)(params, state, x, y)
    print(f"loss: {losses[0]:.3f} at first, {losses[-1]:.5f} after {len(losses)} steps")
    print("loss of what was trained is as low:", bool(loss_of(trained, x, y) < 1.1 * losses[-1] + 1e-4))
    print("as JAX:", bool(jnp.allclose(losses[:50], expected[:50], rtol=1e-3)))


if __name__ == "__main__":
    main()
