"""Gradients of random functions with control flow, in f64, against differences of their values, and against JAX.

JAX differentiates the same function written in its names; and what it exports of that without a gradient is
differentiated here.
"""

from typing import Any

import numpy as np
import pytest
from support.exported_gradients import gradient_of_export
from support.random.differentiable import SIZE, Step, of_jax, ours, random_function

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
STEPS = (1e-5, 1e-6, 1e-7, 1e-8)
"""The smaller ones are for functions with large third derivatives, and where a larger one goes over a kink."""
STEEP = 1e6
"""Where a slope is larger, the sine goes through a part of its period in the smallest step."""
HUGE = 1e9
"""Where gradients are larger, sines of numbers with few digits behind the point take part in them."""


def arguments(seed: int) -> np.ndarray:
    """Both arguments, a direction of each, and weights of the elements of the result."""
    return np.random.default_rng([seed, 1]).standard_normal((5, SIZE, SIZE))


def gradient(function: Step, seed: int) -> tuple[Any, Any]:
    """The function of which all is compared, and its gradients by both arguments."""
    x, w, _, _, weights = arguments(seed)

    def value(x, w):
        return (np.sin(function(x, w)) * weights).sum()

    return value, ipu.function(lambda x, w: ipu.grad(value, argnums=(0, 1))(x, w), target=TARGET)(x, w)


def check(seed: int, depth: int = 2) -> None:
    """Compare slopes in a direction; every number of both arguments takes part in it."""
    function = random_function(seed, depth, ours())
    x, w, dx, dw, _ = arguments(seed)
    value, found = gradient(function, seed)
    at = ipu.function(value, target=TARGET)
    slope = float((found[0] * dx).sum() + (found[1] * dw).sum())
    if abs(slope) > STEEP:
        return
    slopes = [float(at(x + h * dx, w + h * dw) - at(x - h * dx, w - h * dw)) / (2 * h) for h in STEPS]
    near = [np.isclose(slope, each, rtol=1e-4, atol=1e-5) for each in slopes]
    assert any(near), f"seed {seed}: {slope}, but differences have {slopes}: {function.text}"


def check_against_jax(seed: int, depth: int = 2) -> None:
    """Compare every number of both gradients."""
    jax = pytest.importorskip("jax")
    theirs, (x, w, _, _, weights) = random_function(seed, depth, of_jax()), arguments(seed)

    def value(x, w):
        return (jax.numpy.sin(theirs(x, w)) * weights).sum()

    with jax.enable_x64(True):
        wanted = jax.jit(jax.grad(value, argnums=(0, 1)))(x, w)
    if max(np.abs(each).max() for each in wanted) > HUGE:
        return
    own = gradient(random_function(seed, depth, ours()), seed)[1]
    exported = gradient_of_export(value, (x, w), TARGET)
    for how, found in (("traced", own), ("exported", exported)):
        for got, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9, err_msg=f"{how}, {seed}: {theirs.text}")


@pytest.mark.parametrize("seed", range(10))
def test_slopes_of_random_functions(seed):
    check(seed, depth=1)


@pytest.mark.parametrize("seed", range(10, 14))
def test_gradients_of_random_functions_are_those_of_jax(seed):
    check_against_jax(seed, depth=1)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20, 1020, 50))
@pytest.mark.parametrize("compare", [check, check_against_jax])
def test_many_random_functions(first, compare):
    for seed in range(first, first + 50):
        compare(seed)
