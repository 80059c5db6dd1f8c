"""Loops whose iterations do not wait for each other run as whole arrays, and give what a loop gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
jnp = jax.numpy

_X = np.random.default_rng(3).standard_normal((6, 5)).astype(np.float32)
_AT = np.array([3, 0, 3, 9, -1, 3], np.int32)

_PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda x, at: jax.lax.map(lambda row: jax.nn.softmax(row) * row.mean(), x),
    "rows backwards": lambda x, at: jax.lax.scan(lambda c, row: (c, jnp.cumsum(row)), 0, x, reverse=True)[1],
    "a diagonal": lambda x, at: jax.lax.fori_loop(0, 5, lambda i, y: y.at[i + 1, i].set(jnp.sin(x[i, 4 - i])), x),
    "a sum": lambda x, at: jax.lax.fori_loop(0, 6, lambda i, s: s + jnp.dot(x[i], x[0]), jnp.float32(2)),
    "a largest": lambda x, at: jax.lax.fori_loop(1, 6, lambda i, s: jnp.maximum(s, jnp.tanh(x[i])), x[0]),
    "rows that meet": lambda x, at: jax.lax.fori_loop(0, 6, lambda i, y: y.at[at[i]].add(x[i]), x),
    "a nest": lambda x, at: jax.lax.map(lambda row: jax.lax.map(lambda e: jnp.exp(e) + at[1], row), x),
    "a choice at every element": lambda x, at: jax.lax.fori_loop(
        0, 6, lambda i, y: jnp.where(jnp.arange(6)[:, None] == i, jnp.exp(x[i]) * 2, y), x
    ),
    "two results": lambda x, at: jax.lax.scan(lambda s, row: (s + row, row * 2), jnp.zeros(5, jnp.float32), x),
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_iterations_are_done_at_once(name: str) -> None:
    program = _PROGRAMS[name]
    exe = ipu.compile(
        jax.jit(program, keep_unused=True).lower(_X, _AT), target=ipu.Target(tiles_per_ipu=2), kernels="never"
    )
    assert "for i in" not in exe.source()
    _check(exe, program)


def test_a_choice_beside_the_tensor_changes_nothing() -> None:
    def program(x: Any, at: Any) -> Any:
        return jax.lax.fori_loop(0, 6, lambda i, y: jnp.where(jnp.arange(6)[:, None] == at[i], x[i] + y, y), x)

    _check(ipu.compile(jax.jit(program).lower(_X, _AT), target=ipu.Target(tiles_per_ipu=2)), program)


def _check(exe: Any, program: Callable[[Any, Any], Any]) -> None:
    want = jax.tree.leaves(program(jnp.asarray(_X), jnp.asarray(_AT)))
    for found in (exe.run([_X, _AT]), exe.run_per_tile([_X, _AT])):
        for one, other in zip(found, want, strict=True):
            np.testing.assert_allclose(one, np.asarray(other), rtol=1e-5, atol=1e-6)
