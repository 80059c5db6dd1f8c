"""Linear algebra, transforms, and simulations."""

from typing import Any

import numpy as np

from benchmarks.beside.case import Case
from benchmarks.workload import Array
from benchmarks.workloads.arrays import Numbers


def _definite(size: int, *stack: int) -> Array:
    half = Numbers().normal(*stack, size, size)
    return half @ half.swapaxes(-1, -2) / np.float32(size) + np.eye(size, dtype=np.float32)


def _system(size: int) -> list[Array]:
    return [_definite(size), Numbers().normal(size, 4)]


def _inverse_jax(a: Any) -> Any:
    import jax.numpy as jnp

    return jnp.linalg.inv(a)


def _inverse_torch(a: Any) -> Any:
    import torch

    return torch.linalg.inv(a)


def _cholesky_jax(a: Any, b: Any) -> Any:
    import jax

    return jax.scipy.linalg.cho_solve((jax.numpy.linalg.cholesky(a), True), b)


def _cholesky_torch(a: Any, b: Any) -> Any:
    import torch

    return torch.cholesky_solve(b, torch.linalg.cholesky(a))


def _loop_jax(a: Any, b: Any) -> Any:
    import jax

    return jax.lax.fori_loop(0, 20, lambda _, x: b + 0.5 * _cholesky_jax(a, x), b)


def _loop_torch(a: Any, b: Any) -> Any:
    x = b
    for _ in range(20):
        x = b + 0.5 * _cholesky_torch(a, x)
    return x


def _inverse_loop_jax(a: Any) -> Any:
    import jax

    return jax.lax.fori_loop(0, 20, lambda _, x: a + 0.1 * _inverse_jax(x), a)


def _inverse_loop_torch(a: Any) -> Any:
    x = a
    for _ in range(20):
        x = a + 0.1 * _inverse_torch(x)
    return x


def _stack_solve_jax(a: Any, b: Any) -> Any:
    import jax.numpy as jnp

    return jnp.linalg.solve(a, b)


def _stack_solve_torch(a: Any, b: Any) -> Any:
    import torch

    return torch.linalg.solve(a, b)


def _fft_jax(x: Any) -> Any:
    """Filter each row: numbers above a frequency are left out."""
    import jax.numpy as jnp

    found = jnp.fft.rfft(x)
    return jnp.fft.irfft(jnp.where(jnp.arange(found.shape[-1]) < 100, found, 0))


def _fft_torch(x: Any) -> Any:
    import torch

    found = torch.fft.rfft(x)
    return torch.fft.irfft(torch.where(torch.arange(found.shape[-1]) < 100, found, 0))


def _fft_power_jax(re: Any, im: Any) -> Any:
    import jax.numpy as jnp

    found = jnp.fft.fft2(re + 1j * im)
    return found.real**2 + found.imag**2


def _fft_power_torch(re: Any, im: Any) -> Any:
    import torch

    found = torch.fft.fft2(torch.complex(re, im))
    return found.real**2 + found.imag**2


def _grid(size: int) -> list[Array]:
    return [Numbers().classes(2, size * size).reshape(size, size)]


def _life_jax(x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(_: Any, x: Any) -> Any:
        rows = x + jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0)
        around = rows + jnp.roll(rows, 1, 1) + jnp.roll(rows, -1, 1) - x
        return ((around == 3) | ((around == 2) & (x == 1))).astype(x.dtype)

    return jax.lax.fori_loop(0, 10, step, x)


def _life_torch(x: Any) -> Any:
    for _ in range(10):
        rows = x + x.roll(1, 0) + x.roll(-1, 0)
        around = rows + rows.roll(1, 1) + rows.roll(-1, 1) - x
        x = ((around == 3) | ((around == 2) & (x == 1))).to(x.dtype)
    return x


def _mandelbrot_jax(re: Any, im: Any) -> Any:
    import jax
    import jax.numpy as jnp

    c = re[None, :] + 1j * im[:, None]

    def step(_: Any, carried: Any) -> Any:
        z, count = carried
        inside = jnp.abs(z) <= 2
        return jnp.where(inside, z * z + c, z), count + inside

    return jax.lax.fori_loop(0, 30, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]


def _mandelbrot_torch(re: Any, im: Any) -> Any:
    import torch

    c = torch.complex(*torch.broadcast_tensors(re[None, :], im[:, None]))
    z, count = torch.zeros_like(c), torch.zeros(c.shape, dtype=torch.int32)
    for _ in range(30):
        inside = z.abs() <= 2
        z, count = torch.where(inside, z * z + c, z), count + inside
    return count


def _plane(size: int) -> list[Array]:
    # numbers between those at which both ways of rounding decide alike
    return [np.linspace(-2.0, 0.7, size, dtype=np.float32), np.linspace(-1.31, 1.3, size, dtype=np.float32)]


def _options(count: int) -> list[Array]:
    numbers = Numbers()
    return [
        np.exp(numbers.normal(count, scale=0.3)),
        np.exp(numbers.normal(count, scale=0.3)),
        np.abs(numbers.normal(count)) + 1,
    ]


def _black_scholes_jax(price: Any, strike: Any, time: Any) -> Any:
    import jax
    import jax.numpy as jnp

    root = 0.3 * jnp.sqrt(time)
    d = (jnp.log(price / strike) + 0.07 * time) / root
    return price * jax.scipy.stats.norm.cdf(d) - strike * jnp.exp(-0.02 * time) * jax.scipy.stats.norm.cdf(d - root)


def _black_scholes_torch(price: Any, strike: Any, time: Any) -> Any:
    import torch

    def normal(x: Any) -> Any:
        return 0.5 + 0.5 * torch.erf(x * 0.5**0.5)

    root = 0.3 * time.sqrt()
    d = ((price / strike).log() + 0.07 * time) / root
    return price * normal(d) - strike * (-0.02 * time).exp() * normal(d - root)


def _bodies_jax(places: Any, masses: Any) -> Any:
    import jax.numpy as jnp

    apart = places[None] - places[:, None]
    pull = masses / ((apart * apart).sum(-1) + 0.01) ** 1.5
    return jnp.einsum("ijk,ij->ik", apart, pull)


def _bodies_torch(places: Any, masses: Any) -> Any:
    import torch

    apart = places[None] - places[:, None]
    pull = masses / ((apart * apart).sum(-1) + 0.01) ** 1.5
    return torch.einsum("ijk,ij->ik", apart, pull)


def _gradients_jax(a: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(_: Any, carried: Any) -> Any:
        x, r, p, size = carried
        moved = a @ p
        rate = size / (p @ moved)
        x, r = x + rate * p, r - rate * moved
        following = r @ r
        return x, r, r + following / size * p, following

    return jax.lax.fori_loop(0, 20, step, (jnp.zeros_like(b), b, b, b @ b))[0]


def _gradients_torch(a: Any, b: Any) -> Any:
    import torch

    x, r, p, size = torch.zeros_like(b), b, b, b @ b
    for _ in range(20):
        moved = a @ p
        rate = size / (p @ moved)
        x, r = x + rate * p, r - rate * moved
        following = r @ r
        p, size = r + following / size * p, following
    return x


def _heat_jax(x: Any) -> Any:
    import jax

    def step(_: Any, x: Any) -> Any:
        inner = x[1:-1, 1:-1]
        change = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * inner
        return x.at[1:-1, 1:-1].set(inner + 0.1 * change)

    return jax.lax.fori_loop(0, 50, step, x)


def _heat_torch(x: Any) -> Any:
    x = x.clone()
    for _ in range(50):
        inner = x[1:-1, 1:-1]
        change = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * inner
        x[1:-1, 1:-1] = inner + 0.1 * change
    return x


def _one(size: int) -> list[Array]:
    return [_definite(size)]


def _table(rows: int, columns: int) -> list[Array]:
    return [Numbers().normal(rows, columns)]


_SMALL, _LARGE, _SMOKE = {"size": 16}, {"size": 128}, {"size": 6}

CASES = (
    Case("inverse_16", _one, _inverse_jax, _inverse_torch, _SMALL, _SMOKE),
    Case("inverse_128", _one, _inverse_jax, _inverse_torch, _LARGE, _SMOKE),
    Case("cholesky_solve_16", _system, _cholesky_jax, _cholesky_torch, _SMALL, _SMOKE),
    Case("cholesky_solve_128", _system, _cholesky_jax, _cholesky_torch, _LARGE, _SMOKE),
    Case("inverses_in_loop_16", _one, _inverse_loop_jax, _inverse_loop_torch, _SMALL, _SMOKE),
    Case("cholesky_in_loop_16", _system, _loop_jax, _loop_torch, _SMALL, _SMOKE),
    Case(
        "solve_stack_8",
        lambda stack, size: [_definite(size, stack), Numbers().normal(stack, size, 2)],
        _stack_solve_jax,
        _stack_solve_torch,
        {"stack": 512, "size": 8},
        {"stack": 2, "size": 3},
    ),
    Case("fft_filter", _table, _fft_jax, _fft_torch, {"rows": 128, "columns": 1024}, {"rows": 2, "columns": 16}),
    Case(
        "fft_power",
        lambda size: [Numbers().normal(size, size), Numbers().normal(size, size)],
        _fft_power_jax,
        _fft_power_torch,
        {"size": 256},
        {"size": 8},
    ),
    Case("life", _grid, _life_jax, _life_torch, {"size": 1024}, {"size": 8}),
    Case("heat", _table, _heat_jax, _heat_torch, {"rows": 256, "columns": 256}, {"rows": 6, "columns": 7}),
    Case("mandelbrot", _plane, _mandelbrot_jax, _mandelbrot_torch, {"size": 256}, {"size": 9}),
    Case("black_scholes", _options, _black_scholes_jax, _black_scholes_torch, {"count": 500_000}, {"count": 50}),
    Case(
        "bodies",
        lambda count: [Numbers().normal(count, 3), np.abs(Numbers().normal(count))],
        _bodies_jax,
        _bodies_torch,
        {"count": 512},
        {"count": 5},
    ),
    Case(
        "conjugate_gradients",
        lambda size: [_definite(size), Numbers().normal(size)],
        _gradients_jax,
        _gradients_torch,
        {"size": 512},
        {"size": 24},
    ),
)
