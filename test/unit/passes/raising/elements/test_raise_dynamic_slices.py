"""Slices at run-time places of what is large: one dimension after the other, and vectors as rows."""

import numpy as np
import pytest

import ipu_mlir as ipu

SHAPES = [
    ((100, 90), (50, 20), [(3, 69), (99, 99)]),
    ((20, 30, 40), (5, 30, 7), [(15, 0, 33), (4, 0, 2)]),
    ((40_001,), (32_777,), [(129,), (0,), (40_000,)]),
]


@pytest.mark.parametrize(("shape", "size", "places"), SHAPES, ids=["matrix", "volume", "vector"])
def test_slices_are_taken_and_updated_as_numpy_does(shape, size, places):
    rng = np.random.default_rng(0)
    x, new = rng.standard_normal(shape, np.float32), rng.standard_normal(size, np.float32)
    target = ipu.Target(tiles_per_ipu=4)

    def both(x, new, *at):
        return ipu.dynamic_slice(x, at, size), ipu.dynamic_update_slice(x, new, at)

    exe = ipu.compile(both, args=(x, new, *(np.int32(0) for _ in shape)), target=target)
    for at in places:
        args = (x, new, *map(np.int32, at))
        inside = tuple(slice(min(p, n - s), min(p, n - s) + s) for p, n, s in zip(at, shape, size, strict=True))
        expected = x.copy()
        expected[inside] = new
        for taken, updated in (exe(*args), *([exe.run_per_tile(args)] if at == places[0] else [])):
            np.testing.assert_array_equal(taken, x[inside])
            np.testing.assert_array_equal(updated, expected)


@pytest.mark.parametrize("shape", [(128, 128), (1 << 16,)])
def test_a_slice_of_several_dimensions_costs_little_more_than_its_bytes(shape):
    size = tuple(extent // 2 for extent in shape)
    args = [ipu.TensorSpec(shape), ipu.TensorSpec((), np.int32)]
    function = lambda x, at: ipu.dynamic_slice(x, (at,) * len(shape), size)  # noqa: E731
    cycles = ipu.compile(function, args=args, target=ipu.Target(tiles_per_ipu=256)).profile().execution.cycles
    assert cycles.total - cycles.host < 10_000  # all of it on each tile would take 16,384 for the exchange alone
