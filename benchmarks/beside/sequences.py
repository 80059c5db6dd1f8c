"""Attention, recurrent cells, and dynamic programs over time."""

from typing import Any

import numpy as np

from benchmarks.beside.case import Case
from benchmarks.workload import Array
from benchmarks.workloads.arrays import Numbers


def _heads(heads: int, queries: int, keys: int, depth: int) -> list[Array]:
    numbers = Numbers()
    return [numbers.normal(heads, count, depth) for count in (queries, keys, keys)]


def _attention_jax(q: Any, k: Any, v: Any) -> Any:
    import jax

    return jax.nn.softmax(q @ k.swapaxes(1, 2) * q.shape[-1] ** -0.5) @ v


def _attention_torch(q: Any, k: Any, v: Any) -> Any:
    import torch

    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def _attention_gradient_jax(q: Any, k: Any, v: Any) -> Any:
    import jax

    return jax.grad(lambda *args: _attention_jax(*args).sum(), (0, 1, 2))(q, k, v)


def _attention_gradient_torch(*args: Any) -> Any:
    import torch

    args = tuple(each.detach().requires_grad_() for each in args)
    return torch.autograd.grad(_attention_torch(*args).sum(), args)


def _decode(heads: int, keys: int, depth: int) -> list[Array]:
    numbers, width = Numbers(), heads * depth
    caches = [numbers.normal(heads, keys, depth) for _ in range(2)]
    weights = [numbers.weights(*shape) for shape in ((width, 3 * width), (width, width))]
    return [numbers.normal(1, width), *caches, np.asarray(keys // 2, np.int32), *weights]


def _decode_jax(x: Any, keys: Any, values: Any, place: Any, w_in: Any, w_out: Any) -> Any:
    """A step of one token: the caches with it, and what it gives."""
    import jax
    import jax.numpy as jnp

    heads, length, depth = keys.shape
    q, k, v = (x @ w_in).reshape(3, heads, 1, depth)
    keys = jax.lax.dynamic_update_slice(keys, k, (0, place, 0))
    values = jax.lax.dynamic_update_slice(values, v, (0, place, 0))
    scores = jnp.where(jnp.arange(length) <= place, (q @ keys.swapaxes(1, 2)) * depth**-0.5, -jnp.inf)
    return x + (jax.nn.softmax(scores) @ values).reshape(1, -1) @ w_out, keys, values


def _decode_torch(x: Any, keys: Any, values: Any, place: Any, w_in: Any, w_out: Any) -> Any:
    import torch

    heads, length, depth = keys.shape
    q, k, v = (x @ w_in).reshape(3, heads, 1, depth)
    keys, values, index = keys.clone(), values.clone(), int(place)
    keys[:, index], values[:, index] = k[:, 0], v[:, 0]
    mask = torch.arange(length) <= index
    found = torch.nn.functional.scaled_dot_product_attention(q, keys, values, mask)
    return x + found.reshape(1, -1) @ w_out, keys, values


def _cells(gates: int) -> Any:
    def inputs(steps: int, batch: int, width: int) -> list[Array]:
        numbers = Numbers()
        weights = [numbers.normal(gates * width, width, scale=width**-0.5) for _ in range(2)]
        return [numbers.normal(steps, batch, width), *weights, numbers.near_zero(gates * width)]

    return inputs


def _lstm_jax(x: Any, w: Any, u: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(carried: Any, x: Any) -> Any:
        h, c = carried
        i, f, g, o = jnp.split(x @ w.T + h @ u.T + b, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros(x.shape[1:])
    return jax.lax.scan(step, (zero, zero), x)[1]


def _lstm_torch(x: Any, w: Any, u: Any, b: Any) -> Any:
    import torch

    zero = torch.zeros(1, *x.shape[1:])
    return torch._VF.lstm(x, (zero, zero), (w, u, b, torch.zeros_like(b)), True, 1, 0.0, False, False, False)[0]  # type: ignore[attr-defined]


def _gru_jax(x: Any, w: Any, u: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(h: Any, x: Any) -> Any:
        (xr, xz, xn), (hr, hz, hn) = jnp.split(x @ w.T + b, 3, axis=-1), jnp.split(h @ u.T, 3, axis=-1)
        z = jax.nn.sigmoid(xz + hz)
        h = (1 - z) * jnp.tanh(xn + jax.nn.sigmoid(xr + hr) * hn) + z * h
        return h, h

    return jax.lax.scan(step, jnp.zeros(x.shape[1:]), x)[1]


def _gru_torch(x: Any, w: Any, u: Any, b: Any) -> Any:
    import torch

    zero = torch.zeros(1, *x.shape[1:])
    return torch._VF.gru(x, zero, (w, u, b, torch.zeros_like(b)), True, 1, 0.0, False, False, False)[0]  # type: ignore[attr-defined]


def _viterbi_jax(scores: Any, moves: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(best: Any, score: Any) -> Any:
        all_moves = best[:, None] + moves
        return all_moves.max(0) + score, all_moves.argmax(0).astype(jnp.int32)

    best, before = jax.lax.scan(step, scores[0], scores[1:])
    last = best.argmax().astype(jnp.int32)
    first, path = jax.lax.scan(lambda state, row: (row[state], state), last, before, reverse=True)
    return jnp.concatenate([first[None], path])


def _viterbi_torch(scores: Any, moves: Any) -> Any:
    import torch

    best, before = scores[0], []
    for score in scores[1:]:
        largest, place = (best[:, None] + moves).max(0)
        best = largest + score
        before.append(place)
    path = [best.argmax()]
    for row in reversed(before):
        path.append(row[path[-1]])
    return torch.stack(path[::-1]).int()


def _kalman(steps: int, states: int) -> list[Array]:
    numbers = Numbers()
    move = np.eye(states, dtype=np.float32) + numbers.normal(states, states, scale=0.05)
    return [numbers.normal(steps, 2), move, numbers.normal(2, states)]


def _kalman_jax(measured: Any, move: Any, sight: Any) -> Any:
    import jax
    import jax.numpy as jnp

    eye, noise = jnp.eye(move.shape[0]), jnp.eye(2)

    def step(carried: Any, z: Any) -> Any:
        x, p = carried
        x, p = move @ x, move @ p @ move.T + 0.01 * eye
        gain = jnp.linalg.solve(sight @ p @ sight.T + noise, sight @ p).T
        x = x + gain @ (z - sight @ x)
        return (x, (eye - gain @ sight) @ p), x

    return jax.lax.scan(step, (jnp.zeros(move.shape[0]), eye), measured)[1]


def _kalman_torch(measured: Any, move: Any, sight: Any) -> Any:
    import torch

    eye, noise, found = torch.eye(move.shape[0]), torch.eye(2), []
    x, p = torch.zeros(move.shape[0]), eye
    for z in measured:
        x, p = move @ x, move @ p @ move.T + 0.01 * eye
        gain = torch.linalg.solve(sight @ p @ sight.T + noise, sight @ p).T
        x = x + gain @ (z - sight @ x)
        p = (eye - gain @ sight) @ p
        found.append(x)
    return torch.stack(found)


_CELLS = ({"steps": 64, "batch": 32, "width": 128}, {"steps": 3, "batch": 2, "width": 8})
_LONG = ({"heads": 8, "queries": 1024, "keys": 1024, "depth": 64}, {"heads": 2, "queries": 8, "keys": 8, "depth": 4})

CASES = (
    Case("long_attention", _heads, _attention_jax, _attention_torch, *_LONG),
    Case(
        "attention_gradient",
        _heads,
        _attention_gradient_jax,
        _attention_gradient_torch,
        {"heads": 16, "queries": 256, "keys": 256, "depth": 64},
        _LONG[1],
    ),
    Case(
        "decode_step",
        _decode,
        _decode_jax,
        _decode_torch,
        {"heads": 12, "keys": 1024, "depth": 64},
        {"heads": 2, "keys": 16, "depth": 4},
    ),
    Case("lstm", _cells(4), _lstm_jax, _lstm_torch, *_CELLS),
    Case("gru", _cells(3), _gru_jax, _gru_torch, *_CELLS),
    Case(
        "viterbi",
        lambda steps, states: [Numbers().normal(steps, states), Numbers().normal(states, states)],
        _viterbi_jax,
        _viterbi_torch,
        {"steps": 200, "states": 32},
        {"steps": 5, "states": 4},
    ),
    # the last bits of each step grow: with other arguments of f32 all contenders are off by as much
    Case(
        "kalman",
        _kalman,
        _kalman_jax,
        _kalman_torch,
        {"steps": 200, "states": 4},
        {"steps": 3, "states": 4},
        tolerance=1e-2,
    ),
)
