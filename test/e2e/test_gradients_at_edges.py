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
