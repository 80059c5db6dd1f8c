"""Loops of many rounds on little data: what a round costs beyond its arithmetic.

The programs are what StableHLO's own passes make of the JAX forms below; by hand they are loops of Python over NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers

ROUNDS, SWEEPS, LETTERS = 1000, 50, 60
STEP = np.float32(0.002)


def _rounds() -> Any:
    import jax

    return jax.lax.fori_loop


# -- updates at places that are data


def _scatters() -> list[Array]:
    numbers = Numbers()
    return [np.zeros(64, np.float32), numbers.classes(64, 8 * ROUNDS).reshape(ROUNDS, 8), numbers.normal(ROUNDS, 8)]


def _scatters_numpy(x: Array, places: Array, updates: Array) -> tuple[Array, ...]:
    x = x.copy()
    for i in range(ROUNDS):
        np.add.at(x, places[i], updates[i])
    return (x,)


def _scatters_jax(x: Any, places: Any, updates: Any) -> tuple[Any, ...]:
    return (_rounds()(0, ROUNDS, lambda i, x: x.at[places[i]].add(updates[i]), x),)


def _elements() -> list[Array]:
    numbers = Numbers()
    return [np.zeros((64, 64), np.float32), numbers.classes(64, 2 * ROUNDS).reshape(ROUNDS, 2), numbers.normal(ROUNDS)]


def _elements_numpy(x: Array, places: Array, updates: Array) -> tuple[Array, ...]:
    x = x.copy()
    for i in range(ROUNDS):
        x[places[i, 0], places[i, 1]] += updates[i]
    return (x,)


def _elements_jax(x: Any, places: Any, updates: Any) -> tuple[Any, ...]:
    return (_rounds()(0, ROUNDS, lambda i, x: x.at[places[i, 0], places[i, 1]].add(updates[i]), x),)


# -- rows and tables in place


def _rows_numpy(x: Array) -> tuple[Array, ...]:
    x = x.copy()
    for k in range(ROUNDS):
        x[k + 1] += x[k]
    return (x,)


def _rows_jax(x: Any) -> tuple[Any, ...]:
    return (_rounds()(0, ROUNDS, lambda k, x: x.at[k + 1].add(x[k]), x),)


def _words() -> list[Array]:
    numbers = Numbers()
    return [numbers.classes(4, LETTERS), numbers.classes(4, LETTERS)]


def _table_numpy(a: Array, b: Array) -> tuple[Array, ...]:
    d = np.zeros((LETTERS + 1, LETTERS + 1), np.int32)
    d[:, 0] = d[0, :] = np.arange(LETTERS + 1)
    for i in range(1, LETTERS + 1):
        for j in range(1, LETTERS + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
    return (d,)


def _table_jax(a: Any, b: Any) -> tuple[Any, ...]:
    import jax.numpy as jnp

    def row(i: Any, d: Any) -> Any:
        def element(j: Any, d: Any) -> Any:
            other = jnp.where(a[i - 1] == b[j - 1], 0, 1)
            best = jnp.minimum(d[i - 1, j] + 1, d[i, j - 1] + 1)
            return d.at[i, j].set(jnp.minimum(best, d[i - 1, j - 1] + other))

        return _rounds()(1, LETTERS + 1, element, d)

    count = jnp.arange(LETTERS + 1)
    d = jnp.zeros((LETTERS + 1, LETTERS + 1), jnp.int32).at[:, 0].set(count).at[0, :].set(count)
    return (_rounds()(1, LETTERS + 1, row, d),)


def _sweeps() -> list[Array]:
    numbers = Numbers()
    return [numbers.normal(16, 16) + 16 * np.eye(16, dtype=np.float32), numbers.normal(16)]


def _sweeps_numpy(a: Array, b: Array) -> tuple[Array, ...]:
    x = np.zeros_like(b)
    for _ in range(SWEEPS):
        for i in range(16):
            x[i] = (b[i] - a[i] @ x + a[i, i] * x[i]) / a[i, i]
    return (x,)


def _sweeps_jax(a: Any, b: Any) -> tuple[Any, ...]:
    import jax.numpy as jnp

    def sweep(_: Any, x: Any) -> Any:
        return _rounds()(0, 16, lambda i, x: x.at[i].set((b[i] - a[i] @ x + a[i, i] * x[i]) / a[i, i]), x)

    return (_rounds()(0, SWEEPS, sweep, jnp.zeros_like(b)),)


# -- states of a few numbers


def _state_numpy(s: Array) -> tuple[Array, ...]:
    x, y, z = s
    ten, high, third = np.float32(10), np.float32(28), np.float32(8 / 3)
    for _ in range(ROUNDS):
        u, v, w = ten * (y - x), x * (high - z) - y, x * y - third * z
        x, y, z = x + STEP * u, y + STEP * v, z + STEP * w
    return (np.array([x, y, z]),)


def _state_jax(s: Any) -> tuple[Any, ...]:
    import jax.numpy as jnp

    def step(_: Any, s: Any) -> Any:
        x, y, z = s
        return s + STEP * jnp.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8 / 3 * z])

    return (_rounds()(0, ROUNDS, step, s),)


def _scan_numpy(x: Array) -> tuple[Array, ...]:
    y, c, keep = np.empty_like(x), np.float32(0), np.float32(0.9)
    for i in reversed(range(ROUNDS)):
        c = y[i] = keep * c + x[i]
    return (y,)


def _scan_jax(x: Any) -> tuple[Any, ...]:
    import jax

    def step(c: Any, x: Any) -> Any:
        c = 0.9 * c + x
        return c, c

    return (jax.lax.scan(step, np.float32(0), x, reverse=True)[1],)


def _random_numpy(seed: Array) -> tuple[Array, ...]:
    state, hits = int(seed), 0
    whole = np.float32(1 << 24)
    for _ in range(ROUNDS):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        x = np.float32(state >> 8) / whole
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        y = np.float32(state >> 8) / whole
        hits += x * x + y * y < 1
    return (np.asarray(hits, np.int32),)


def _random_jax(seed: Any) -> tuple[Any, ...]:
    import jax.numpy as jnp

    def draw(state: Any) -> tuple[Any, Any]:
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        return state, (state >> 8).astype(jnp.float32) / np.float32(1 << 24)

    def step(_: Any, carried: Any) -> Any:
        state, hits = carried
        state, x = draw(state)
        state, y = draw(state)
        return state, hits + jnp.where(x * x + y * y < 1, 1, 0)

    return (_rounds()(0, ROUNDS, step, (seed.astype(jnp.uint32), np.int32(0)))[1],)


def _workload(
    name: str,
    make_inputs: Callable[[], list[Array]],
    numpy_form: Callable[..., tuple[Array, ...]],
    jax_form: Callable[..., tuple[Any, ...]],
) -> Workload:
    return Workload(f"loop_{name}", f"loops/{name}", {}, {}, make_inputs, numpy_form, jax_form)


SMALL_LOOPS = (
    _workload("scatters", _scatters, _scatters_numpy, _scatters_jax),
    _workload("elements", _elements, _elements_numpy, _elements_jax),
    _workload("rows", lambda: [Numbers().normal(ROUNDS + 1, 64)], _rows_numpy, _rows_jax),
    _workload(
        "table", lambda: [Numbers().classes(4, LETTERS), Numbers().classes(3, LETTERS)], _table_numpy, _table_jax
    ),
    _workload("sweeps", _sweeps, _sweeps_numpy, _sweeps_jax),
    _workload("state", lambda: [np.ones(3, np.float32)], _state_numpy, _state_jax),
    _workload("scan", lambda: [Numbers().normal(ROUNDS)], _scan_numpy, _scan_jax),
    _workload("random", lambda: [np.asarray(12345, np.int32)], _random_numpy, _random_jax),
)
