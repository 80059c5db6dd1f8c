"""Sorts over many tiles: what they give, on both executors, and that they have no cliff."""

import numpy as np
import pytest

import ipu_mlir as ipu


def values(size, seed=0):
    """Numbers that tie, both zeros, and a NaN."""
    x = np.random.default_rng(seed).integers(-20, 20, size).astype(np.float32)
    x[::7], x[3] = -0.0, np.nan
    return x


@pytest.mark.parametrize("size", [1500, pytest.param(1024, marks=pytest.mark.slow)])
def test_long_sort_is_that_of_numpy_on_both_executors(size):
    x = values(size)
    program = ipu.compile(
        lambda x: (np.sort(x), np.argsort(x)), args=[x], target=ipu.Target(tiles_per_ipu=4, bytes_per_tile=65536)
    )
    assert any("sort_tuples" in step.name for step in program.profile().compilation.steps)
    for ordered, places in (program(x), program.run_per_tile([x])):
        np.testing.assert_array_equal(ordered, np.sort(x))
        np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


def test_long_sort_by_three_keys_moves_what_goes_along():
    jax = pytest.importorskip("jax")
    keys = np.random.default_rng(1).integers(0, 3, (3, 1500)).astype(np.int32)
    tensors = (*keys, np.arange(1500, dtype=np.int32))
    sort = jax.jit(lambda *tensors: jax.lax.sort(tensors, num_keys=3))
    program = ipu.compile(sort, args=tensors, target=ipu.Target(tiles_per_ipu=4, bytes_per_tile=262144))
    np.testing.assert_array_equal(program(*tensors), sort(*tensors))


def cycles(size, target):
    program = ipu.compile(lambda x: np.sort(x), args=[ipu.TensorSpec((size,))], target=target)
    found = program.profile().execution.cycles
    return found.total - found.host


def test_sort_of_many_takes_little_more_than_in_proportion():
    few, many = (cycles(size, ipu.Target(tiles_per_ipu=8)) for size in (1 << 12, 1 << 15))
    assert many < 12 * few


@pytest.mark.slow
def test_million_is_sorted_in_about_a_millisecond():
    assert cycles(1 << 20, ipu.Target()) < 1.5e-3 * 1.325e9
