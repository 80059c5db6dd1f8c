"""Reductions of traced tensors give what they give on arrays."""

import numpy as np
import pytest

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
