"""Random functions of JAX with control flow: both executors give the numbers of XLA.

A few run in every test run; ``make test-slow`` draws ``IPU_JAX_PROGRAMS`` (400 without it) from ``IPU_RANDOM_SEED`` on.
"""

import os

import numpy as np
import pytest

import ipu_mlir as ipu

pytest.importorskip("jax")
from support.random.jax_control import program

SEED, MANY = int(os.environ.get("IPU_RANDOM_SEED", "100")), int(os.environ.get("IPU_JAX_PROGRAMS", "400"))
TILES = (1, 2, 3, 16)


def check(seed: int) -> None:
    function, arguments = program(seed)
    expected = [np.asarray(each) for each in function(*arguments)]
    target = ipu.Target(tiles_per_ipu=TILES[seed % len(TILES)])
    executable = ipu.compile(function, args=arguments, target=target)
    for results in (executable.run(arguments), executable.run_per_tile(arguments)):
        for number, (found, wanted) in enumerate(zip(results, expected, strict=True)):
            np.testing.assert_array_equal(found, wanted, f"result {number} of program {seed}")


@pytest.mark.parametrize("seed", range(7))
def test_control_flow_gives_the_numbers_of_xla(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SEED, SEED + MANY, 20))
def test_much_control_flow_gives_the_numbers_of_xla(first: int) -> None:
    for seed in range(first, first + 20):
        check(seed)
