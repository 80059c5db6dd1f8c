"""Executables in functions that JAX transforms."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
jnp = jax.numpy
SMALL = ipu.Target(tiles_per_ipu=4)
W = {"w": np.arange(6, dtype=np.float32).reshape(2, 3) / 5}
X = np.linspace(0, 1, 2, dtype=np.float32)


def layer(np_: Any) -> Any:
    def layer(params: Any, x: Any) -> Any:
        y = np_.tanh(x @ params["w"])
        return {"y": y, "loss": (y * y).sum()}

    return layer


@pytest.fixture(scope="module", params=["JAX", "ours"])
def compiled(request: Any) -> Any:
    """A layer that was compiled as a function of JAX, or as one that we trace."""
    return ipu.compile(
        layer(jnp if request.param == "JAX" else np),
        args=jax.tree.map(jnp.asarray, (W, X)) if request.param == "JAX" else (W, X),
        target=SMALL,
    )


def loss_of(function: Any) -> Any:
    def loss(params: Any, x: Any) -> Any:
        found = function(params, x)
        return found["loss"] * 2 + found["y"][1]

    return loss


TRANSFORMED = {
    "jit": lambda f: jax.jit(f)(W, X),
    "grad": lambda f: jax.grad(f)(W, X),
    "jit of value_and_grad": lambda f: jax.jit(jax.value_and_grad(f, argnums=1))(W, X),
    "vmap": lambda f: jax.vmap(f, (None, 0))(W, jnp.stack([X, X + 1])),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f, argnums=1), (None, 0))(W, jnp.stack([X, X + 1])),
    "scan": lambda f: jax.lax.scan(lambda c, x: (c + f(W, x), c), 0.0, jnp.stack([X, X + 1])),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_an_executable_is_a_function_of_jax(name: str, compiled: Any) -> None:
    got, wanted = (TRANSFORMED[name](loss_of(function)) for function in (compiled, layer(jnp)))
    jax.tree.map(lambda mine, theirs: np.testing.assert_allclose(mine, theirs, rtol=1e-5), got, wanted)


def test_the_gradient_is_a_program_and_has_a_gradient(compiled: Any) -> None:
    got, wanted = (jax.jacrev(jax.grad(loss_of(f), argnums=1), argnums=1)(W, X) for f in (compiled, layer(jnp)))
    np.testing.assert_allclose(got, wanted, rtol=1e-4)


def test_complex_and_unsigned_arguments_keep_their_meaning() -> None:
    def f(z: Any, u: Any) -> Any:
        return (jnp.exp(z) * u.astype(jnp.float32)).real.sum()

    z, u = jnp.array([1 + 2j, 0.5j]), jnp.array([3, 200], jnp.uint8)
    exe = ipu.compile(f, args=[z, u], target=SMALL)
    np.testing.assert_allclose(jax.jit(exe)(z, u), f(z, u), rtol=1e-5)
    np.testing.assert_allclose(jax.grad(exe)(z, u), jax.grad(f)(z, u), rtol=1e-5)


def test_wrong_arguments_are_refused_as_in_any_call(compiled: Any) -> None:
    with pytest.raises((ipu.RunError, TypeError), match=r"(?i)shape|input 1 is float32\[3\]"):
        jax.jit(compiled)(W, jnp.ones(3))


def test_a_program_with_variables_is_refused() -> None:
    count = ipu.Variable(np.float32(0), name="count")

    def step(x: Any) -> Any:
        count.assign(count.value + x)
        return count.value

    exe = ipu.compile(step, args=[np.float32(1)], target=SMALL)
    with pytest.raises(ipu.RunError, match="has variables, queues or other effects"):
        jax.jit(exe)(1.0)


def test_an_error_of_a_plain_call_stays_one() -> None:
    exe = ipu.compile(layer(np), args=(W, X), target=SMALL)
    with pytest.raises(ipu.RunError, match="compiled for a tensor, got the constant"):
        exe(W, object())
