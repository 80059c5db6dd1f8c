"""``np.searchsorted`` in long vectors, where a binary search takes the place of counting."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=16)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("size", "shape"), [(5000, (300,)), (4096, (30, 17)), (4095, (257,))])
@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_long_vectors_are_searched_as_numpy_does(side: str, size: int, shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(7)
    a, v = (rng.integers(-900, 900, each).astype(dtype) for each in (size, shape))
    v.flat[:2] = -2000, 2000
    if dtype == "f4":
        a[:2], a[2:5], v.flat[2:5] = -np.inf, np.nan, [np.nan, np.inf, -np.inf]
    a.sort()
    specs = [ipu.TensorSpec(each.shape, each.dtype) for each in (a, v)]
    exe = ipu.compile(lambda a, v: np.searchsorted(a, v, side), args=specs, target=TARGET)
    wanted = np.searchsorted(a, v, side)
    for found in (exe(a, v), exe.run_per_tile([a, v])[0]):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype


def test_every_row_is_searched_in_a_vector_of_its_own() -> None:
    rng = np.random.default_rng(7)
    a, v = np.sort(rng.standard_normal((3, 3000)).astype("f4")), rng.standard_normal((3, 500)).astype("f4")
    exe = ipu.compile(
        ipu.vmap(lambda a, v: np.searchsorted(a, v)),
        args=[ipu.TensorSpec(each.shape) for each in (a, v)],
        target=TARGET,
    )
    np.testing.assert_array_equal(exe(a, v), [np.searchsorted(*each) for each in zip(a, v, strict=True)])


def test_a_million_is_searched_in_a_million() -> None:
    spec = ipu.TensorSpec((1 << 20,))
    cycles = ipu.compile(lambda a, v: np.searchsorted(a, v), args=[spec, spec]).profile().execution.cycles
    assert cycles.total - cycles.host < 20_000_000
