"""Gradients of traced functions, against differences of their values in f64; ties and derivatives of higher order."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
RNG = np.random.default_rng(20261123)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


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


def gradients(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[np.ndarray]:
    by = tuple(place for place, each in enumerate(arguments) if each.dtype.kind == "f")
    return list(ipu.function(lambda *args: ipu.grad(function, argnums=by)(*args), target=TARGET)(*arguments))


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
    (found,) = gradients(lambda x: np.maximum(x, 0).sum(), (np.array([-1.0, 0.0, 2.0]),))
    np.testing.assert_array_equal(found, [0, 0.5, 1])


def test_second_derivatives():
    x = normal(5)
    second = ipu.function(lambda x: ipu.grad(lambda x: ipu.grad(lambda x: (x**3).sum())(x).sum())(x), target=TARGET)
    np.testing.assert_allclose(second(x), 6 * x)


def test_tangents_of_values():
    x, t = normal(5), normal(5)
    value, moved = ipu.function(lambda x, t: ipu.jvp(lambda x: np.sin(x) * x, (x,), (t,)), target=TARGET)(x, t)
    np.testing.assert_allclose(value, np.sin(x) * x)
    np.testing.assert_allclose(moved, (np.cos(x) * x + np.sin(x)) * t)


def test_a_tangent_shares_what_the_value_computes():
    def function(x):
        for _ in range(2):
            x = np.sin(x) * x + np.mean(x)
        return x

    def cycles(function, *args):
        return ipu.compile(function, args=args, target=ipu.Target(tiles_per_ipu=4)).profile().total_cycles

    x = np.ones((8, 16), np.float32)
    assert cycles(lambda x, t: ipu.jvp(function, (x,), (t,)), x, x) < 2.2 * cycles(function, x)


def test_cotangents_of_several_results():
    x = normal(5)
    found = ipu.function(lambda x: ipu.vjp(lambda a, b: (a * b, a + b), x, x * 2)[1]((x, x)), target=TARGET)(x)
    np.testing.assert_allclose(found[0], 2 * x * x + x)
    np.testing.assert_allclose(found[1], x * x + x)


def test_value_and_gradient_of_nested_arguments_with_a_rest():
    x = normal(3)

    def loss(p, scale):
        return (p["a"] * scale).sum() + p["b"][0], {"a": p["a"]}

    both = ipu.value_and_grad(loss, has_aux=True)
    (value, rest), slopes = ipu.function(lambda x: both({"a": x, "b": (x.sum(),)}, 2.0), target=TARGET)(x)
    np.testing.assert_allclose(value, 3 * x.sum())
    np.testing.assert_array_equal(rest["a"], x)
    np.testing.assert_array_equal(slopes["a"], [2, 2, 2])
    np.testing.assert_array_equal(slopes["b"][0], 1)


def test_narrow_floats_have_gradients():
    bf16 = np.dtype(ml_dtypes.bfloat16)
    x = np.array([1, 2, 3], bf16)
    slope = ipu.function(lambda x: ipu.grad(lambda x: (x * x).sum())(x), target=TARGET)(x)
    assert slope.dtype == bf16 and slope.tolist() == [2, 4, 6]


def test_complex_results_besides_the_loss():
    x = normal(3)
    both = ipu.value_and_grad(lambda x: ((x * x).sum(), x * 1j), has_aux=True)
    (_, rest), slope = ipu.function(lambda x: both(x), target=TARGET)(x)
    np.testing.assert_allclose(rest, x * 1j)
    np.testing.assert_allclose(slope, 2 * x)


def test_what_is_stopped_is_a_constant():
    x = normal(4)
    (found,) = gradients(lambda x: (ipu.stop_gradient(x) * x).sum(), (x,))
    np.testing.assert_array_equal(found, x)


def test_a_function_is_differentiated_as_it_says():
    @ipu.custom_vjp
    def clipped(x):
        return np.clip(x, -1, 1)

    clipped.defvjp(lambda x: (clipped(x), x), lambda kept, ct: (ct * kept,))
    x = normal(4)
    (found,) = gradients(lambda x: clipped(x * 2).sum(), (x,))
    np.testing.assert_allclose(found, 4 * x)


def test_gradients_of_gradients_go_through_what_is_kept():
    @ipu.custom_vjp
    def cube(x):
        return x * x * x

    cube.defvjp(lambda x: (x * x * x, 5 * x * x), lambda kept, ct: (ct * kept,))
    x = normal(4)

    def slope(x):
        return ipu.grad(lambda x: cube(x).sum())(x).sum()

    np.testing.assert_allclose(gradients(slope, (x,))[0], 10 * x)


def test_a_checkpointed_layer_has_the_same_gradient():
    x, w = normal(3, 4), normal(4, 4)

    def loss(layer):
        return lambda x, w: layer(layer(x, w), w).sum()

    def layer(x, w):
        return np.tanh(x @ w)

    kept, again = gradients(loss(layer), (x, w)), gradients(loss(ipu.checkpoint(layer)), (x, w))
    for one, other in zip(kept, again, strict=True):
        np.testing.assert_allclose(one, other)


def test_recomputation_saves_bytes_and_keeps_the_gradient():
    x = normal(48, 16).astype(np.float32)
    up, down = (0.2 * normal(3, *shape).astype(np.float32) for shape in ((16, 64), (64, 16)))

    def loss(weights, x):
        for w, v in zip(*weights, strict=True):
            x = x + np.tanh(x @ w) @ v
        return (x * x).mean()

    step = ipu.value_and_grad(loss)
    args = [[[*up], [*down]], x]
    ways = [
        ipu.compile(lambda w, x: step(w, x), args=args, target=ipu.Target(tiles_per_ipu=4), recompute=share)
        for share in (None, 1.0)
    ]
    stored, again = (ipu.tree.flatten(exe(*args))[0] for exe in ways)
    for found, wanted in zip(again, stored, strict=True):
        np.testing.assert_array_equal(found, wanted)
    memories = [exe.profile().compilation.memory.categories.temporaries for exe in ways]
    before, after = (max(size for size, _ in each) for each in memories)
    assert after < 0.7 * before, (before, after)


def test_steps_of_training_lower_the_loss():
    w, x = normal(6, 1), normal(32, 6)
    y = x @ normal(6, 1)
    weights = ipu.Variable(w, name="w")

    @ipu.function(target=TARGET)
    def step(x, y):
        loss, slope = ipu.value_and_grad(lambda w: ((x @ w - y) ** 2).mean())(weights.value)
        weights.assign(weights.value - 0.1 * slope)
        return loss

    losses = [float(step(x, y)) for _ in range(40)]
    assert losses[-1] < 1e-2 * losses[0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: ipu.grad(lambda x: x)(x), "it has to give one float"),
        (lambda x: ipu.grad(lambda x: x.sum())(x.astype(np.int32)), "only floats have derivatives"),
        (lambda x: ipu.grad(lambda x: x.sum(), argnums=2)(x), "argnums=2 of a call with 1 argument"),
        (lambda x: ipu.grad(lambda x: x.sum(), has_aux=True)(x), "return a pair"),
        (lambda x: ipu.vjp(np.sin, x)[1](x[:2]), "a cotangent is"),
    ],
)
def test_what_cannot_be_differentiated_is_said(function, message):
    with pytest.raises((TypeError, ValueError, ipu.CompileError), match=message):
        ipu.function(function, target=TARGET)(normal(4))


def test_outside_of_programs_there_are_no_gradients():
    with pytest.raises(ValueError, match=r"call this in a function that is compiled"):
        ipu.grad(lambda x: x.sum())(normal(4))
