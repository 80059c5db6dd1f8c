"""Gradients where the parts of a function overflow, or have no derivative, and the function itself is smooth."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)


def test_a_sigmoid_is_flat_where_its_power_of_e_overflows():
    gradient = ipu.grad(lambda x: np.sum(ipu.nn.sigmoid(x)))
    x = np.array([-1e4, -100, 0, 100, 1e4], np.float32)
    found = ipu.compile(lambda x: gradient(x), args=[x], target=TARGET)(x)
    np.testing.assert_allclose(found, [0, 0, 0.25, 0, 0], atol=1e-30)


@pytest.mark.parametrize(("dtype", "x"), [(np.float16, 11.0), (np.float32, 88.5)])
def test_the_slope_of_large_powers_of_e_is_that_power(dtype, x):
    given = np.array([x], dtype)
    gradient = ipu.grad(lambda x: np.sum(np.exp(x)))
    found = ipu.compile(lambda x: gradient(x), args=[given], target=TARGET)(given)
    np.testing.assert_allclose(found, np.exp(given), rtol=1e-3)


@pytest.mark.parametrize(
    ("function", "curvature"),
    [
        (lambda x: np.logaddexp(x, np.float32(1) - x), 1.0),
        (lambda x: np.logaddexp2(x, np.float32(1) - x), 0.6931472),
        (lambda x: ipu.nn.softplus(x - np.float32(0.5)), 0.25),
    ],
)
def test_the_logarithm_of_a_sum_is_smooth_where_both_are_equal(function, curvature):
    x = np.array([0.5, 0.500001, 300, -300], np.float32)
    curved = ipu.function(target=TARGET)(
        lambda x: ipu.grad(lambda x: ipu.grad(lambda x: function(x).sum())(x).sum())(x)
    )
    np.testing.assert_allclose(curved(x), [curvature, curvature, 0, 0], rtol=1e-5, atol=1e-30)


def derivative(function, x, order=1):
    """Of that order, at each of the numbers ``x``."""

    def differentiated(f, times):
        return f if times == 0 else differentiated(lambda x: ipu.grad(lambda x: f(x).sum())(x), times - 1)

    return ipu.function(target=TARGET)(differentiated(function, order))(np.float32(x))


@pytest.mark.parametrize(
    ("function", "order", "at_0"),
    [
        (np.sinc, 2, -(np.pi**2) / 3),
        (np.sinc, 4, np.pi**4 / 5),
        (lambda x: np.hypot(x, np.float32(3)), 2, 1 / 3),
        (lambda x: np.hypot(np.float32(2), x), 2, 0.5),
        (lambda x: np.hypot(x, 2 * x), 1, 0.0),
        (ipu.nn.relu, 1, 0.0),
        (np.sign, 1, 0.0),
        (lambda x: np.where(x == 0, np.float32(0), x), 1, 0.0),
        (lambda x: ipu.nn.relu(x) ** 2, 2, 0.0),
        (lambda x: np.mod(x, np.float32(0.5)), 1, 1.0),
        (lambda x: np.mod(x, np.float32(-0.5)), 1, 1.0),
        (lambda x: np.arccosh(1 + x), 1, np.inf),
    ],
)
def test_derivatives_at_0(function, order, at_0):
    np.testing.assert_allclose(derivative(function, [0.0], order), [at_0], rtol=1e-5)


def test_derivatives_of_sinc_near_0():
    x = np.array([1e-3, 0.05, 0.079, 0.081, 0.3])
    t = np.pi * x
    exact = np.pi**2 * ((2 - t**2) * np.sin(t) - 2 * t * np.cos(t)) / t**3
    exact[0] = -(np.pi**2) / 3 * (1 - 0.3 * t[0] ** 2)
    np.testing.assert_allclose(derivative(np.sinc, x, 2), exact, rtol=1e-4)


def test_an_interpolation_has_the_slope_behind_its_points_and_that_before_its_last():
    places, heights = np.float32([-1, 0, 1, 2]), np.float32([1, 3, -1, 4])
    found = derivative(lambda x: np.interp(x, places, heights), [-1.5, -1, 0, 0.5, 1, 2, 2.5])
    np.testing.assert_array_equal(found, [0, 2, -4, -4, 5, 5, 0])
