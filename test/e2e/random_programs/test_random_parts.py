"""Random programs that put parts together and write to parts, and their gradients: against the per-tile executor.

``IPU_RANDOM_PARTS`` says how many the long test draws, ``IPU_RANDOM_SEED`` from which seed on.
"""

import os

import numpy as np
import pytest
from support.random.parts import random_parts

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
MANY = int(os.environ.get("IPU_RANDOM_PARTS", "100"))
SEED = int(os.environ.get("IPU_RANDOM_SEED", "0"))


def check(seed: int, kernels: str) -> None:
    draw = np.random.default_rng(seed)
    shape = draw.integers(1, 6, size=draw.integers(1, 4))
    arrays = [draw.standard_normal(shape).astype(np.float32) for _ in range(2)]
    function = random_parts(seed)

    def slopes(x, y):
        return ipu.grad(lambda *args: sum(np.sin(each).sum() for each in function(*args)), argnums=(0, 1))(x, y)

    for each in (function, slopes):
        exe = ipu.compile(each, args=arrays, target=TARGET, kernels=kernels)
        expected = exe.run_per_tile(arrays)
        atol = 1e-4 * max(1.0, *(np.abs(wanted).max(initial=0) for wanted in expected))  # of sums that are almost 0
        for found, wanted in zip(exe.run(arrays), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=atol, err_msg=f"seed {seed}")


@pytest.mark.parametrize(("seed", "kernels"), ((4, "never"), (33, "never"), (31, "always")))
def test_parts_are_those_of_the_tiles(seed: int, kernels: str) -> None:
    check(seed, kernels)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + MANY))
@pytest.mark.parametrize("kernels", ("never", "always"))
def test_many_parts_are_those_of_the_tiles(seed: int, kernels: str) -> None:
    check(seed, kernels)
