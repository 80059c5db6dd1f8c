"""Programs that JAX has exported without gradients, differentiated here: against ``jax.grad``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.exported_gradients import gradient_of_export

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

RNG = np.random.default_rng(20261123)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def convolution(
    strides: tuple[int, int], padding: Any, dilation: tuple[int, int], holes: tuple[int, int], groups: int, layout: str
) -> tuple[Callable[..., Any], tuple[np.ndarray, ...]]:
    last = layout == "NHWC"
    numbers = (layout, "HWIO" if last else "OIHW", layout)
    x = normal(2, 7, 9, 4) if last else normal(2, 4, 7, 9)
    w = normal(3, 2, 4 // groups, 8) if last else normal(8, 4 // groups, 3, 2)

    def loss(x: Any, w: Any) -> Any:
        y = lax.conv_general_dilated(
            x, w, strides, padding, dilation, holes, dimension_numbers=numbers, feature_group_count=groups
        )
        return (y**2).sum()

    return loss, (x, w)


def pooling(how: str, window: tuple[int, ...], strides: tuple[int, ...], padding: str) -> tuple[Any, tuple[Any, ...]]:
    op, start = {"max": (lax.max, -np.inf), "min": (lax.min, np.inf), "sum": (lax.add, 0.0)}[how]
    return lambda x: (lax.reduce_window(x, start, op, window, strides, padding) ** 2).sum(), (normal(2, 7, 9, 3),)


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4.0
    scores = jnp.where(jnp.tril(jnp.ones((5, 5), bool)), scores, -1e9)
    return (jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v) ** 2).sum()


def batch_norm(x: Any, s: Any, b: Any) -> Any:
    return (((x - x.mean((0, 1, 2))) / jnp.sqrt(x.var((0, 1, 2)) + 1e-3) * s + b) ** 3).sum()


def activations(x: Any) -> Any:
    gelu = jax.nn.gelu(x).sum() + jax.nn.gelu(x, approximate=False).sum()
    return gelu + jax.nn.silu(x).sum() + jax.nn.softplus(x).sum() + jax.nn.elu(x).sum()


def running(x: Any) -> Any:
    return (jnp.cumsum(x, 1) ** 2).sum() + jnp.cumprod(x, 1).sum() + lax.cumlogsumexp(x, 1).sum()


def scattered(x: Any, u: Any, i: Any) -> Any:
    return (x.at[i].set(u) ** 2).sum() + (x.at[i].add(u) ** 3).sum()


def sliced(x: Any, i: Any) -> Any:
    zero = i * 0
    read = lax.dynamic_slice(x, (i, zero), (2, 3))
    return (read**2).sum() + (lax.dynamic_update_slice(x, x[:1] * 2, (i, zero)) ** 2).sum()


def scanned(x: Any, w: Any) -> Any:
    return lax.scan(lambda c, r: (jnp.tanh(c @ w + r), c.sum()), jnp.zeros(4), x)[1].sum()


def scanned_extremes(x: Any, w: Any) -> Any:
    """Elements that are computed again are compared with the extremes of those."""

    def step(carried: Any, row: Any) -> Any:
        found = jnp.tanh(carried @ w)
        return jnp.sin(found + found.min(0)) + row, row[0] * found.max()

    last, rows = lax.scan(step, w, x)
    return last.sum() + rows.sum()


def triangular(lower: bool, unit: bool, turned: int, left: bool) -> tuple[Callable[..., Any], tuple[np.ndarray, ...]]:
    def loss(a: Any, b: Any) -> Any:
        x = lax.linalg.triangular_solve(
            a + 4 * jnp.eye(3), b, left_side=left, lower=lower, transpose_a=turned, unit_diagonal=unit
        )
        return (x**2).sum()

    return loss, (normal(2, 3, 3), normal(2, 3, 4) if left else normal(2, 4, 3))


def definite(a: Any) -> Any:
    return a @ a.mT + jnp.eye(a.shape[-1])


def factored(a: Any) -> Any:
    return (jnp.linalg.cholesky(definite(a)) ** 3).sum() + (lax.linalg.lu(a)[0] ** 2).sum()


def eigen(a: Any) -> Any:
    values, vectors = jnp.linalg.eigh(a)
    return (values**3).sum() + (vectors[:, 1] ** 2 * jnp.arange(4.0) ** 2).sum()


def lower_upper(a: Any) -> Any:
    return (lax.linalg.lu(a)[0] ** 3).sum()


def orthogonal(a: Any) -> Any:
    q, r = jnp.linalg.qr(a)
    return (q**3).sum() + (r**2 * jnp.arange(r.size).reshape(r.shape)).sum()


def singular(a: Any) -> Any:
    u, s, vh = jnp.linalg.svd(a, full_matrices=False)
    return (u**2 * jnp.arange(u.size).reshape(u.shape)).sum() + (u[0] * vh[:, 0]).sum() + (s**3).sum()


def transforms(x: Any) -> Any:
    whole, half = jnp.fft.fft2(x + 1j * x[::-1]), jnp.fft.rfft(x)
    return (whole.real * whole.imag).sum() + (half.real**2 * half.imag).sum() + (jnp.fft.irfft(half**2, 5) ** 2).sum()


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "convolution": convolution((1, 1), "SAME", (1, 1), (1, 1), 1, "NHWC"),
    "strided": convolution((2, 2), "VALID", (1, 1), (1, 1), 1, "NCHW"),
    "padded and dilated": convolution((2, 1), [(1, 0), (2, 1)], (1, 1), (1, 2), 1, "NHWC"),
    "transposed": convolution((1, 1), [(0, 0), (0, 0)], (2, 1), (1, 1), 1, "NCHW"),
    "grouped": convolution((2, 2), "SAME", (1, 1), (1, 1), 2, "NHWC"),
    "depthwise": convolution((3, 2), "SAME", (1, 1), (2, 2), 4, "NCHW"),
    "maxima of windows": pooling("max", (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
    "minima of windows": pooling("min", (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "sums of windows": pooling("sum", (1, 3, 2, 1), (1, 1, 1, 1), "SAME"),
    "batch norm": (batch_norm, (normal(2, 5, 5, 3), normal(3), normal(3))),
    "attention": (attention, (normal(2, 5, 2, 3), normal(2, 5, 2, 3), normal(2, 5, 2, 3))),
    "activations": (activations, (normal(5, 4),)),
    "embedding": (lambda t, i: (t[i] ** 2).sum(), (normal(5, 4), np.array([[0, 3], [3, 1]]))),
    "running sums": (running, (normal(3, 4),)),
    "sort": (lambda x: (jnp.sort(x, 1) * np.arange(4.0)).sum() + lax.top_k(x, 2)[0].sum(), (normal(3, 4),)),
    "slices": (sliced, (normal(4, 4), np.int64(1))),
    "scatters": (scattered, (normal(4, 4), normal(2, 4), np.array([1, 3]))),
    "extremes in a scan": (scanned_extremes, (normal(3, 3), normal(3, 3))),
    "scan": (scanned, (normal(5, 4), normal(4, 4))),
    "loop": (
        lambda x, w: lax.fori_loop(0, 4, lambda i, c: jnp.tanh(c @ w) + x[i], x).sum(),
        (normal(4, 4), normal(4, 4)),
    ),
    "switch": (lambda x, i: lax.switch(i, [jnp.sin, jnp.cos, lambda y: y * y], x).sum(), (normal(4, 8), np.int64(2))),
    "padding by a number": (
        lambda x, y: (jnp.sin(lax.pad(x, y[1] * 2, ((1, 2, 0), (0, 1, 0)))) * np.arange(35.0).reshape(7, 5)).sum(),
        (normal(4, 4), normal(3)),
    ),
    "lower triangle": triangular(True, False, False, True),
    "transposed unit triangle on the right": triangular(False, True, True, False),
    "factors": (factored, (normal(2, 4, 4),)),
    "factors of tall matrices": (lower_upper, (normal(2, 5, 3),)),
    "factors of wide matrices": (lower_upper, (normal(3, 4),)),
    "orthogonal factors": (orthogonal, (normal(2, 5, 3),)),
    "singular vectors": (singular, (normal(4, 3),)),
    "solve of three diagonals": (
        lambda below, on, above, b: (lax.linalg.tridiagonal_solve(below, on, above, b) ** 2).sum(),
        (normal(2, 4), normal(2, 4), normal(2, 4), normal(2, 4, 3)),
    ),
    "solve": (lambda a, b: (jnp.linalg.solve(a, b) ** 2).sum(), (normal(4, 4) + 4 * np.eye(4), normal(4, 2))),
    "determinants": (lambda a: (jnp.linalg.det(a) * jnp.linalg.slogdet(a)[1]).sum(), (normal(2, 4, 4),)),
    "eigenvalues": (eigen, (normal(4, 4),)),
    "transforms": (transforms, (normal(4, 6),)),
    "complex numbers": (lambda x: jnp.abs(jnp.exp(1j * x) * (x + 2j)).sum(), (normal(4, 8),)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_that_of_jax(name):
    function, arguments = CASES[name]
    by = [place for place, each in enumerate(arguments) if each.dtype.kind == "f"]
    with jax.enable_x64(True):
        wanted = jax.jit(jax.grad(function, argnums=tuple(by)))(*arguments)
    found = gradient_of_export(function, arguments, ipu.Target(tiles_per_ipu=4))
    for got, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("length", ["of a condition", "of an argument"])
def test_gradient_of_a_loop_whose_length_has_a_bound(length):
    def grown(i: Any, s: Any) -> Any:
        return jnp.sin(s @ s) + s * 1.5 + 0.1 * i

    def counted(x: Any, n: Any) -> Any:
        return lax.fori_loop(0, 4, grown, x).sum()

    def of_a_condition(x: Any, n: Any) -> Any:
        ends = lax.while_loop(
            lambda s: (s[0] < 7) & (s[0] < n), lambda s: (s[0] + 1, grown(s[0], s[1])), (np.int64(0), x)
        )
        return ends[1].sum()

    def of_an_argument(x: Any, n: Any) -> Any:
        return lax.fori_loop(0, jnp.minimum(n, 7), grown, x).sum()

    arguments = normal(3, 3), np.int64(4)
    with jax.enable_x64(True):
        wanted = jax.grad(counted)(*arguments)
    own = of_a_condition if length == "of a condition" else of_an_argument
    (found,) = gradient_of_export(own, arguments, ipu.Target(tiles_per_ipu=4))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_what_a_checkpoint_does_not_store_is_computed_again():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def block(p, x):
        return x + jnp.tanh(jnp.tanh(x @ p[0]) @ p[1])

    def step_of(layer):
        def loss(weights, x):
            for own in weights:
                x = layer(own, x)
            return (x**2).mean()

        return jax.jit(jax.value_and_grad(loss))

    rng, target = np.random.default_rng(0), ipu.Target(tiles_per_ipu=4)
    weights = [rng.standard_normal((2, 16, 16)).astype(np.float32) / 4 for _ in range(4)]
    x = rng.standard_normal((512, 16)).astype(np.float32)
    stored, again = (
        ipu.compile(step_of(layer), args=(weights, x), target=target) for layer in (block, jax.checkpoint(block))
    )
    assert again.profile().tile_bytes().max() < 0.75 * stored.profile().tile_bytes().max()
    (loss, slopes), (same, found) = stored(weights, x), again(weights, x)
    np.testing.assert_allclose(same, loss, rtol=1e-6)
    np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-7)
