"""Gradients of traced functions, against differences of their values in f64; ties, and second derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.traced_gradients import TARGET, gradients, normal

import ipu_mlir as ipu


def layer_norm(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-3)


def softmax(x: Any) -> Any:
    return ipu.nn.softmax(x)


def definite(a: Any) -> Any:
    """Symmetric matrices with positive eigenvalues."""
    return a @ a.mT + np.eye(a.shape[-1])


def spectrum(values: Any) -> Any:
    """A sum in which no two numbers count the same."""
    weights = np.arange(1.0, values.shape[-1] + 1)
    return (values.real * np.sin(values.imag) * weights + values.imag**2 * weights).sum()


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = np.einsum("bqd,bkd->bqk", q, k)
    seen = np.tril(np.ones((scores.shape[1], scores.shape[2]), bool))
    return (np.einsum("bqk,bkd->bqd", softmax(np.where(seen, scores, -1e9)), v) ** 2).sum()


def conditional(x: Any, w: Any) -> Any:
    return ipu.cond(x.sum() > 0, lambda: np.sin(x @ w).sum(), lambda: (np.cos(x) * w[0]).sum())


def chosen(x: Any, which: Any) -> Any:
    return ipu.switch(which, [lambda: np.sin(x).sum(), lambda: (x * x).sum(), lambda: x[0, 0]])


def in_loop(x: Any, w: Any) -> Any:
    return ipu.fori_loop(
        0, 4, lambda i, c: ipu.cond(i % 2 == 0, lambda: np.sin(c @ w), lambda: c * w[0] + x[i]), x
    ).sum()


def nested_loops(x: Any, w: Any) -> Any:
    def inner(i: Any, c: Any) -> Any:
        return ipu.fori_loop(0, 2, lambda j, e: np.sin(e @ w) + c[0] * x[i], c)

    return ipu.fori_loop(0, 3, inner, x).sum()


def scanned(x: Any, w: Any) -> Any:
    last, all_of_them = ipu.scan(lambda c, row: (np.tanh(c @ w + row), c * row), w[0], x)
    return last.sum() + (all_of_them**2).sum()


def growing(x: Any, w: Any) -> Any:
    """As long as it is small; its condition stands beside a counter."""
    return ipu.while_loop(
        lambda s: (s[0] < 6) & ((s[1] ** 2).sum() < 50.0), lambda s: (s[0] + 1, s[1] * 1.5 + np.tanh(s[1] @ w)), (2, x)
    )[1].sum()


def growing_again(x: Any, w: Any) -> Any:
    def grown(i: Any, s: Any) -> Any:
        limit = 4.0 + 20 * i.astype(np.float64)
        return ipu.while_loop(lambda s: (s**2).sum() < limit, lambda s: s * 1.5 + np.tanh(s @ w), s * 0.3, 5)

    return ipu.fori_loop(0, 3, grown, x).sum()


def counted_at_run_time(x: Any, w: Any) -> Any:
    rounds = np.minimum((x[0, 0] > 0).astype(np.int32) + 3, 7)
    return ipu.fori_loop(1, rounds, lambda i, s: s * w + np.tanh(s @ w) * i.astype(np.float64), x).sum()


def weighted(*tensors: Any) -> Any:
    """The sum of all elements, each with a weight of its own."""
    return sum((each * np.sin(1 + np.arange(each.size)).reshape(each.shape)).sum() for each in tensors)


def factors_of(a: Any) -> Any:
    return weighted(*np.linalg.qr(a)) ** 2


def singular(a: Any) -> Any:
    """Pairs of vectors may change their signs."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return weighted(
        u[..., :, None, :] * vh.swapaxes(-1, -2)[..., None, :, :], s, u**2, vh**3 * u[..., :1, :].swapaxes(-1, -2)
    )


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "elementwise": (
        lambda x: (np.tanh(x) * np.exp(-x * x) + np.log(x * x + 1) / np.sqrt(x * x + 2)).sum(),
        (normal(4, 3),),
    ),
    "trigonometric": (lambda x: (np.sin(x) * np.cos(x) + np.arctan2(x, x + 3) + np.arctan(x)).sum(), (normal(7),)),
    "hyperbolic": (
        lambda x: (np.sinh(x) + np.cosh(x) + np.arcsinh(x) + np.expm1(x) + np.log1p(x * x)).sum(),
        (normal(7),),
    ),
    "powers": (lambda x, y: (x**y + x**3 + np.cbrt(x) + np.hypot(x, y)).sum(), (np.abs(normal(4)) + 0.5, normal(4))),
    "quotients": (lambda x, y: (x / (y * y + 1)).sum() + np.where(x > y, x, y * 2).sum(), (normal(3, 5), normal(5))),
    "rounding": (lambda x: (np.floor(x) * x + np.abs(x) + np.copysign(x, -x)).sum(), (normal(9),)),
    "product": (lambda x, w, b: (np.tanh(x @ w + b) ** 2).sum(), (normal(4, 3), normal(3, 5), normal(5))),
    "batched product": (lambda x, w: (np.einsum("bij,bjk->bik", x, w) ** 2).mean(), (normal(2, 4, 3), normal(2, 3, 5))),
    "diagonal": (lambda x: np.trace(x) * np.diagonal(x).sum() + (np.einsum("ii->i", x) ** 2).sum(), (normal(4, 4),)),
    "softmax": (lambda x: (softmax(x) * np.arange(5.0)).sum(), (normal(4, 5),)),
    "attention": (attention, (normal(2, 5, 3), normal(2, 5, 3), normal(2, 5, 3))),
    "layer norm": (lambda x, s: (layer_norm(x) * s * x).sum(), (normal(4, 7), normal(7))),
    "variance": (lambda x: x.var() + x.std(axis=0).sum() + np.linalg.norm(x), (normal(4, 5),)),
    "extremes": (lambda x: np.max(x, axis=1).sum() * np.min(x) + np.median(x[0]), (normal(4, 5),)),
    "products of elements": (lambda x: np.prod(x, axis=1).sum() + np.prod(x[0] * 0 + x[1]), (normal(4, 5),)),
    "running sums": (lambda x: (np.cumsum(x, axis=1) ** 2).sum() + np.cumprod(x, axis=0).sum(), (normal(4, 5),)),
    "sort": (lambda x: (np.sort(x, axis=1) * np.arange(5.0)).sum(), (normal(4, 5),)),
    "slices": (
        lambda x: (x[1:3, ::2] ** 2).sum() + x[-1].sum() * x[0, 0] + (x[::-1] * x[:, ::-1]).sum(),
        (normal(5, 5),),
    ),
    "views": (lambda x: (x.T @ x).sum() * x.reshape(-1)[3] + (np.roll(x, 2, axis=1) * x).sum(), (normal(4, 6),)),
    "joined": (lambda x, y: (np.concatenate([x, y, x], axis=1) ** 3).sum(), (normal(4, 2), normal(4, 3))),
    "padded": (lambda x: (np.pad(x, ((1, 2), (0, 1))) ** 2).sum() * x[0, 0], (normal(4, 2),)),
    "gather": (lambda x: (x[np.array([0, 2, 2, 1])] ** 2).sum() + x[1, 1] ** 2, (normal(4, 2),)),
    "scatter": (lambda x, y: (x.at[np.array([0, 2, 0])].add(y) ** 2).sum(), (normal(4, 5), normal(3, 5))),
    "set": (lambda x, y: (x.at[np.array([0, 2, 0])].set(y) ** 2).sum(), (normal(4, 5), normal(3, 5))),
    "run-time slice": (lambda x, i: (ipu.dynamic_slice(x, (i, 0), (2, 3)) ** 2).sum(), (normal(4, 5), np.int32(1))),
    "run-time update": (
        lambda x, y, i: (ipu.dynamic_update_slice(x, y, (i, 1)) ** 2).sum(),
        (normal(4, 5), normal(2, 2), np.int32(1)),
    ),
    "numbers": (lambda x: x[0, 0] * x[1, 1] + np.sqrt(np.abs(x[2, 2])), (normal(4, 4),)),
    "branch": (conditional, (normal(4, 4), normal(4, 4))),
    "switch": (chosen, (normal(4, 4), np.int32(1))),
    "loop": (lambda x, w: ipu.fori_loop(0, 5, lambda i, c: np.tanh(c @ w) + x, x).sum(), (normal(3, 4), normal(4, 4))),
    "loop that never runs": (lambda x: ipu.fori_loop(3, 3, lambda i, c: np.sin(c), x).sum(), (normal(3),)),
    "loop over rows": (
        lambda x, w: ipu.fori_loop(1, 4, lambda i, c: c * w[i] + x[i].sum(), x).sum(),
        (normal(4, 4),) * 2,
    ),
    "loops in loops": (nested_loops, (normal(4, 4), normal(4, 4))),
    "loops that end on a condition": (growing, (normal(3, 3) / 2, normal(3, 3))),
    "loops of other lengths in loops": (growing_again, (normal(3, 3), normal(3, 3))),
    "a loop that never runs": (
        lambda x, w: ipu.while_loop(lambda s: s.sum() < 9, lambda s: s * w, np.sin(x), 0).sum(),
        (normal(3, 3), normal(3, 3)),
    ),
    "loops of a length that has a bound": (counted_at_run_time, (normal(3, 3), normal(3, 3))),
    "branches in loops": (in_loop, (normal(4, 4), normal(4, 4))),
    "scan": (scanned, (normal(5, 4), normal(4, 4))),
    "cholesky of a lower triangle": (
        lambda x: (np.linalg.cholesky(x + 6 * np.eye(3)) ** 2 * np.arange(9.0).reshape(3, 3)).sum(),
        (normal(2, 3, 3),),
    ),
    "cholesky": (
        lambda x: (np.linalg.cholesky(definite(x)) ** 2 * np.arange(9.0).reshape(3, 3)).sum(),
        (normal(2, 3, 3),),
    ),
    "solve": (lambda a, b: (np.linalg.solve(a + 4 * np.eye(3), b) ** 2).sum(), (normal(2, 3, 3), normal(2, 3, 2))),
    "solve of a vector": (lambda a, b: (np.linalg.solve(definite(a), b) ** 3).sum(), (normal(3, 3), normal(3))),
    "inverse": (lambda a: (np.linalg.inv(a + 4 * np.eye(4)) ** 2).sum(), (normal(4, 4),)),
    "determinants": (
        lambda a: np.linalg.det(a).sum() ** 2 + (np.linalg.slogdet(a)[1] * np.linalg.slogdet(a)[0]).sum(),
        (normal(2, 4, 4),),
    ),
    "eigenvalues": (
        lambda a: (
            (np.linalg.eigvalsh(a) ** 3).sum() + (np.linalg.eigh(a)[1] ** 2 * np.arange(4.0)[:, None] ** 2)[:, 1].sum()
        ),
        (normal(4, 4),),
    ),
    "singular values": (
        lambda a: (np.linalg.svdvals(a) ** 3).sum() + np.linalg.norm(a[0].T, 2) + np.linalg.cond(a[1]),
        (normal(2, 3, 4),),
    ),
    "factors of tall matrices": (lambda a: factors_of(a), (normal(2, 5, 3),)),
    "factors of wide matrices": (lambda a: factors_of(a), (normal(3, 5),)),
    "factors of square matrices": (lambda a: factors_of(a), (normal(2, 3, 3),)),
    "all reflections": (lambda a: weighted(*np.linalg.qr(a, mode="complete")), (normal(4, 2),)),
    "reflections alone": (lambda a: weighted(np.linalg.qr(a, mode="r")), (normal(2, 4),)),
    "singular vectors of tall matrices": (singular, (normal(2, 5, 3),)),
    "singular vectors of wide matrices": (singular, (normal(3, 4),)),
    "pseudoinverse": (lambda a: weighted(np.linalg.pinv(a)), (normal(4, 3),)),
    "solve in a loop": (
        lambda a, b: ipu.fori_loop(0, 3, lambda i, c: np.tanh(np.linalg.solve(definite(a), c)), b).sum(),
        (normal(3, 3), normal(3, 2)),
    ),
    "transforms": (
        lambda x: spectrum(np.fft.fft(x)) + spectrum(np.fft.ifft(x[:, :4] + 1j * x[:, 1:])),
        (normal(2, 5),),
    ),
    "real transform, even": (lambda x: spectrum(np.fft.rfft(x)), (normal(2, 6),)),
    "real transform, odd": (lambda x: spectrum(np.fft.rfft(x, norm="ortho")), (normal(2, 5),)),
    "back from half, even": (lambda x, y: (np.fft.irfft(x + 1j * y) ** 3).sum(), (normal(2, 4), normal(2, 4))),
    "back from half, odd": (lambda x, y: (np.fft.irfft(x + 1j * y, 7) ** 3).sum(), (normal(2, 4), normal(2, 4))),
    "convolution by transforms": (
        lambda x, w: (np.fft.irfft(np.fft.rfft(x, 16) * np.fft.rfft(w, 16), 16) ** 2)[3:9].sum(),
        (normal(12), normal(5)),
    ),
    "outlined": (
        lambda x, w: ipu.outlined(lambda a: np.tanh(a @ w))(ipu.outlined(lambda a: np.sin(a))(x)).sum(),
        (normal(3, 4), normal(4, 4)),
    ),
}


def differences(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[np.ndarray]:
    """Central differences of the values that the compiled function gives."""
    value = ipu.function(function, target=TARGET)
    found = []
    for place, each in enumerate(arguments):
        if each.dtype.kind != "f":
            continue
        slopes = np.zeros_like(each)
        for index in np.ndindex(each.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = each.copy()
                moved[index] += step
                ends.append(float(value(*arguments[:place], moved, *arguments[place + 1 :])))
            slopes[index] = (ends[0] - ends[1]) / 2e-5
        found.append(slopes)
    return found


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_what_differences_show(name):
    function, arguments = CASES[name]
    for got, wanted in zip(gradients(function, arguments), differences(function, arguments), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-6, atol=2e-6)


def test_the_per_tile_executor_finds_the_same():
    function, arguments = CASES["scan"]
    exe = ipu.compile(lambda *args: ipu.grad(function, argnums=(0, 1))(*args), args=arguments, target=TARGET)
    for fast, slow in zip(exe.run(list(arguments)), exe.run_per_tile(list(arguments)), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-12)


def test_equal_elements_share_the_cotangent_of_their_maximum():
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    (found,) = gradients(lambda x: np.max(x, axis=1).sum(), (x,))
    np.testing.assert_array_equal(found, [[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])


def test_two_equal_operands_of_maximum_take_half_each():
    found = gradients(lambda x, y: np.maximum(x, y).sum(), (np.array([-1.0, 0.0, 2.0]), np.zeros(3)))
    np.testing.assert_array_equal(found, [[0, 0.5, 1], [1, 0.5, 0]])


def test_second_derivatives():
    x = normal(5)
    second = ipu.function(lambda x: ipu.grad(lambda x: ipu.grad(lambda x: (x**3).sum())(x).sum())(x), target=TARGET)
    np.testing.assert_allclose(second(x), 6 * x)
