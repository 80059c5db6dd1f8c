"""Long reductions of JAX with several results, which are reductions of parts."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
jnp = jax.numpy


def _joined(one: Any, other: Any) -> Any:
    """The number, the mean and the squared distances of two sets of numbers together (Chan and others, 1979)."""
    (few, mean, squares), (more, its_mean, its_squares) = one, other
    both, apart = few + more, its_mean - mean
    share = more / jnp.maximum(both, 1)
    return both, mean + apart * share, squares + its_squares + apart * apart * few * share


def _moments(x: Any, dims: tuple[int, ...]) -> Any:
    return jax.lax.reduce((jnp.ones_like(x), x, jnp.zeros_like(x)), (jnp.float32(0),) * 3, _joined, dims)


@pytest.mark.parametrize(
    ("shape", "dims"), [((5000,), (0,)), ((3, 5000, 2), (1,)), ((3, 4097, 2), (1, 2)), ((4099, 3), (0,))]
)
def test_means_and_squares_are_joined_in_parts(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    exe = ipu.compile(lambda x: _moments(x, dims), args=[x], target=ipu.Target(tiles_per_ipu=64))
    for count, mean, squares in (exe(x), exe.run_per_tile([x])):
        np.testing.assert_array_equal(count, x.size // mean.size)
        np.testing.assert_allclose(mean, x.mean(dims), atol=1e-5)
        np.testing.assert_allclose(squares / count, x.var(dims), rtol=1e-4)


def test_a_million_numbers_are_joined_on_all_tiles() -> None:
    spec = jax.ShapeDtypeStruct((1 << 20,), jnp.float32)
    cycles = ipu.compile(lambda x: _moments(x, (0,)), args=[spec]).profile().execution.cycles
    assert cycles.total - cycles.host < 100_000
