"""A shard that a program's writer gives is where its ops run: in loops, branches and outlined functions as well.

``make test-slow`` draws many programs: ``IPU_SHARD_PROGRAMS`` says how many, ``IPU_RANDOM_SEED`` from which on.
"""

import os

import numpy as np
import pytest
from support.random.written_shards import blocks_of, draw, function_of, inputs_of, ipus_by_size

import ipu_mlir as ipu

TILES = 4
FEW = (0, 1, 2, 3, 17, 20, 35, 40, 45)
"""Some of them let what a loop carries begin on one IPU and be read on another."""
MANY = int(os.environ.get("IPU_SHARD_PROGRAMS", "400"))
SEED = int(os.environ.get("IPU_RANDOM_SEED", "0"))


def check(seed: int) -> None:
    ipus = 2 + seed % 2
    program = draw(seed, ipus)
    inputs = inputs_of(program, seed)
    target = ipu.Target(ipus=ipus, tiles_per_ipu=TILES)
    executable = ipu.compile(function_of(program, is_traced=True), args=inputs, target=target)
    found = ipus_by_size(executable.module("l3").operation, TILES)
    for block, shard in blocks_of(program):
        if shard is not None:
            assert found.get(block.size, {shard}) == {shard}, f"{block} of program {seed} runs on {found[block.size]}"
    expected = function_of(program, is_traced=False)(*inputs)
    n, values, weights = inputs
    flat = [n, *values, *(each for pair in weights for each in pair)]
    for results in (executable.run(flat), executable.run_per_tile(flat)):
        for got, want in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", FEW)
def test_blocks_run_where_they_say(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + MANY, 20))
def test_blocks_run_where_they_say_in_many(seed: int) -> None:
    for each in range(seed, seed + 20):
        check(each)
