"""Reductions of traced tensors give what they give on arrays."""

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(11)
FLOATS = RNG.uniform(-2, 2, (3, 4, 5)).astype(np.float32)
INTS = RNG.integers(-9, 9, (3, 4, 5)).astype(np.int32)
BOOLS = RNG.integers(0, 2, (3, 4, 5)).astype(np.bool_)
AXES = [None, 0, -1, (0, 2), (), (0, 1, 2)]


NAMES = ["sum", "prod", "max", "min", "mean", "any", "all"]
ARGS = ["argmax", "argmin"]


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_reductions_of_floats(agrees, axis):
    def program(x):
        plain = {name: getattr(np, name)(x, axis=axis) for name in NAMES}
        return plain | {f"{name} keepdims": getattr(np, name)(x, axis=axis, keepdims=True) for name in NAMES}

    agrees(program, FLOATS)


def test_reductions_of_integers_and_bools(agrees):
    agrees(lambda *xs: {f"{n} {x.dtype}": getattr(np, n)(x, axis=1) for n in NAMES + ARGS for x in xs}, INTS, BOOLS)


def test_methods(agrees):
    names = [*NAMES, *ARGS, "var", "std"]
    agrees(lambda x: {name: getattr(x, name)() for name in names}, FLOATS)
    agrees(lambda x: {name: getattr(x, name)(axis=-1, keepdims=True) for name in names}, FLOATS)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_arg_extrema_give_the_first_of_equals_and_the_first_nan(agrees, axis):
    x = INTS[0].astype(np.float32)
    x[1, 2] = x[1, 4] = np.nan
    agrees(lambda *xs: {f"{n} {x.dtype}": getattr(np, n)(x, axis=axis) for n in ARGS for x in xs}, x, INTS[1])
    agrees(lambda x: {name: getattr(np, name)(x, axis=axis, keepdims=True) for name in ARGS}, INTS[1])


def test_the_element_type_of_a_sum_can_be_chosen(agrees):
    agrees(lambda x, b: (x.sum(dtype=np.float64), np.sum(b, dtype=np.int32), x.mean(dtype=np.float64)), FLOATS, BOOLS)


def test_extrema_pass_nan_on_and_know_infinities(agrees):
    x = np.array([[1, np.nan, 3], [-np.inf, -np.inf, -np.inf], [np.inf, 2, 1]], np.float32)
    agrees(lambda x: (x.max(1), x.min(1), x.sum(1)), x)


def test_variance_with_degrees_of_freedom(agrees):
    agrees(lambda x: (np.var(x, axis=1, ddof=1), np.std(x, ddof=2)), FLOATS)


def test_reduce_of_a_ufunc(agrees):
    agrees(lambda x: (np.add.reduce(x), np.maximum.reduce(x, axis=1), np.multiply.reduce(x, axis=None)), FLOATS)


def test_reductions_of_a_tensor_without_dimensions(agrees):
    agrees(lambda x: (x.sum(), x.max(), x.argmax(), x.mean(keepdims=True)), np.asarray(3.0, np.float32))


def edges_of(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers with ties: unsigned ones around that of the sign; floats with NaN, zeros of both signs and the lowest."""
    x = RNG.integers(0, 2 if dtype == "?" else 9, shape).astype(dtype)
    if x.dtype.kind in "iu":
        x += x.dtype.type(np.iinfo(dtype).max // 2)
    if x.dtype.kind == "f":
        x[0, -1], x[0, shape[1] // 2], x[1] = np.nan, np.nan, -np.inf
        x[2] = -x[2]
    return x


@pytest.mark.parametrize("kernels", ["always", "never"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "i4", "i8", "u1", "u4", "u8", "?"])
def test_places_of_extremes_in_rows_of_every_length(dtype, kernels):
    arrays = [edges_of(dtype, shape) for shape in ((4, 5), (4, 1), (4, 16), (5, 37), (4, 20, 3))]

    def places(*arrays):
        return [find(x, 1) for x in arrays for find in (np.argmax, np.argmin)]

    with ipu.x64():
        exe = ipu.compile(places, args=arrays, target=ipu.Target(tiles_per_ipu=4), kernels=kernels)
    for found in (exe.run(arrays), exe.run_per_tile(arrays)):
        for got, wanted in zip(found, places(*arrays), strict=True):
            np.testing.assert_array_equal(got, wanted, strict=True)


def test_a_vertex_looks_for_the_place_of_an_extreme():
    exe = ipu.compile(lambda x: x.argmax(1), args=[ipu.TensorSpec((100, 64))], target=ipu.Target(tiles_per_ipu=16))
    assert "first_maximum_or_nan" in exe.mlir("l3")
    assert "kernel" in exe.source()
