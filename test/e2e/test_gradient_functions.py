"""What ``ipu.grad``, ``value_and_grad``, ``vjp``, ``jvp``, ``checkpoint`` and rules of one's own give, and refuse."""

import ml_dtypes
import numpy as np
import pytest
from support.traced_gradients import TARGET, gradients, normal

import ipu_mlir as ipu


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
