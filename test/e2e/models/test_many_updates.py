"""Scatters of many updates into few elements, which go to partial results: in both executors, and the cycles."""

from collections.abc import Callable

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

_RNG = np.random.default_rng(5)
_COUNT, _ROWS = 517, 9  # a prime number, as parts leave it over
_TARGET = ipu.Target(tiles_per_ipu=16)
_IDS = _RNG.integers(-2, _ROWS + 2, _COUNT).astype(np.int32)
_VALUES = _RNG.integers(-4, 4, (_COUNT, 3)).astype(np.float32)


def _sum(values: jax.Array, ids: jax.Array) -> jax.Array:
    return jax.ops.segment_sum(values, ids, _ROWS)


def _each(values: jax.Array, ids: jax.Array) -> jax.Array:
    return jnp.full((_ROWS, 3), 7.0).at[ids, ids % 3].add(values[:, 0])


def _of_each_row(values: jax.Array, ids: jax.Array) -> jax.Array:
    return jax.vmap(_sum)(values.reshape(11, 47, 3), ids.reshape(11, 47))


def _columns(values: jax.Array, ids: jax.Array) -> jax.Array:
    return jnp.ones((3, _ROWS)).at[:, ids].max(values.T)


def _product(values: jax.Array, ids: jax.Array) -> jax.Array:
    return jax.ops.segment_prod(jnp.where(values > 2, 2.0, 1.0), ids, _ROWS)


def _counts(values: jax.Array, ids: jax.Array) -> jax.Array:
    return jnp.bincount(jnp.clip(ids, 0), values[:, 1], length=_ROWS)


@pytest.mark.parametrize("scatter", [_sum, _each, _of_each_row, _columns, _product, _counts])
def test_partial_results_are_put_together(scatter: Callable[[jax.Array, jax.Array], jax.Array]) -> None:
    executable = ipu.compile(jax.jit(scatter), args=[_VALUES, _IDS], target=_TARGET)
    (fast,), (per_tile,) = executable.run([_VALUES, _IDS]), executable.run_per_tile([_VALUES, _IDS])
    np.testing.assert_array_equal(fast, per_tile)
    np.testing.assert_array_equal(fast, jax.jit(scatter)(_VALUES, _IDS))


def test_a_histogram_runs_on_all_tiles() -> None:
    executable = ipu.compile(jax.jit(lambda i: jnp.bincount(i, length=50)), args=[jnp.zeros(100_000, jnp.int32)])
    assert executable.profile().total_cycles < 100_000, "3.3 million if each tile looks at all numbers"
