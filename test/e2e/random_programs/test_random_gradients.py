"""Gradients of random functions with control flow, in f64, against differences of their values."""

import numpy as np
import pytest
from support.random.differentiable import SIZE, sequence

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
STEPS = (1e-5, 1e-6, 1e-7)
"""The smaller ones are for functions with large third derivatives, and where a larger one goes over a kink."""


def check(seed: int, depth: int = 2) -> None:
    """Compare slopes in a direction; every number of both arguments takes part in it."""
    rng = np.random.default_rng(seed)
    function = sequence(rng, depth)
    x, w, dx, dw, weights = rng.standard_normal((5, SIZE, SIZE))

    def value(x, w):
        return (np.sin(function(x, w)) * weights).sum()

    at = ipu.function(value, target=TARGET)
    found = ipu.function(lambda x, w: ipu.grad(value, argnums=(0, 1))(x, w), target=TARGET)(x, w)
    slope = float((found[0] * dx).sum() + (found[1] * dw).sum())
    slopes = [float(at(x + h * dx, w + h * dw) - at(x - h * dx, w - h * dw)) / (2 * h) for h in STEPS]
    near = [np.isclose(slope, each, rtol=1e-4, atol=1e-5) for each in slopes]
    assert any(near), f"seed {seed}: {slope}, but differences have {slopes}: {function.text}"


@pytest.mark.parametrize("seed", range(20))
def test_slopes_of_random_functions(seed):
    check(seed, depth=1)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20, 1020, 50))
def test_slopes_of_many_random_functions(first):
    for seed in range(first, first + 50):
        check(seed)
