"""Programs compute in float64 where that is asked for, and not because NumPy's constants are of that type."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=4)
FLOATS = (np.float16, np.float32, ml_dtypes.bfloat16)
RNG = np.random.default_rng(0)
NOISE = RNG.standard_normal(3)

SCALARS: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: x / np.sqrt(64),
    "0-d array": lambda x: x * np.array(0.5),
    "integer": lambda x: x / np.int64(3),
    "clip": lambda x: np.clip(x, np.float64(-1), np.float64(1)),
    "maximum": lambda x: np.maximum(x, np.float64(0)),
    "power": lambda x: np.abs(x) ** np.float64(2),
}
ARRAYS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda x: x + np.zeros(3),
    "points": lambda x: x * np.linspace(0, 1, 3),
    "noise": lambda x: x + NOISE,
    "product": lambda x: x @ np.eye(3),
    "where": lambda x: np.where(x > 0, x, np.zeros(3)),
    "loop": lambda x: ipu.fori_loop(0, 3, lambda i, c: (c * np.float64(0.5) + np.ones(3)).astype(np.float32), x),
}


def check(function: Callable[[Any], Any], dtype: Any) -> None:
    x = np.array([1, 2, 3], np.float32).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exe = ipu.compile(function, args=[x], target=SMALL)
    assert exe(x).dtype == x.dtype
    expected = np.asarray(function(x.astype(np.float32)), np.float32)
    np.testing.assert_allclose(exe(x).astype(np.float32), expected, rtol=2e-2)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("case", SCALARS)
def test_scalars_keep_the_type_of_the_tensor(case: str, dtype: Any) -> None:
    check(SCALARS[case], dtype)


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays_keep_float32(case: str) -> None:
    """Beside a narrower float they make float32, as an array of float32 does in NumPy."""
    check(ARRAYS[case], np.float32)


def test_complex_constants() -> None:
    x = np.ones(3, np.complex64)
    assert ipu.compile(lambda x: x * np.exp(1j * np.arange(3.0)), args=[x], target=SMALL)(x).dtype == np.complex64


WANTED: dict[str, Callable[[Any], Any]] = {
    "astype": lambda x: x.astype(np.float64) + np.ones(3),
    "dtype=": lambda x: np.mean(x, dtype=np.float64) / np.float64(3),
}


@pytest.mark.parametrize("case", WANTED)
def test_what_asks_for_float64_has_it(case: str) -> None:
    x = np.array([1, 2, 3], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ipu.compile(WANTED[case], args=[x], target=SMALL)(x).dtype == np.float64


def test_arguments_of_float64_keep_numpys_rules() -> None:
    x, y = np.array([1, 2, 3], np.float32), np.array([0.1, 0.2, 0.3])
    exe = ipu.compile(lambda x, y: (x / np.sqrt(64), x + y, y * np.pi), args=[x, y], target=SMALL)
    expected = x / np.sqrt(64), x + y, y * np.pi
    for found, wanted in zip(exe(x, y), expected, strict=True):
        assert found.dtype == wanted.dtype == np.float64
        np.testing.assert_array_equal(found, wanted)


def test_variables_of_float64_keep_numpys_rules() -> None:
    v = ipu.Variable(np.ones(3), name="v")
    x = np.array([1, 2, 3], np.float32)
    exe = ipu.compile(lambda x: v.value * np.pi + x, args=[x], target=SMALL)
    np.testing.assert_array_equal(exe(x), np.ones(3) * np.pi + x)


INTEGERS: dict[str, Callable[[Any], Any]] = {
    "half": lambda i: i / 2,
    "mean": lambda i: i.mean(),
    "mixture": lambda i: i + np.float32(0.5),
    "root": lambda i: np.sqrt(i),
    "deviation": lambda i: i.std(),
    "norm": lambda i: np.linalg.norm(i),
}


@pytest.mark.parametrize("case", INTEGERS)
def test_integers_that_become_float64_are_a_warning_at_the_line(case: str) -> None:
    with pytest.warns(ipu.Float64Warning, match=r"int32\[3\].*use astype\(np.float32\)") as found:
        exe = ipu.compile(INTEGERS[case], args=[ipu.TensorSpec((3,), np.int32)], target=SMALL)
    assert Path(found[0].filename).name == Path(__file__).name
    i = np.array([1, 2, 4], np.int32)
    assert exe(i).dtype == np.float64
    np.testing.assert_allclose(exe(i), INTEGERS[case](i))


def test_one_warning_is_enough() -> None:
    def many(i: Any) -> Any:
        return i / 2, i / 3, i.mean()

    with pytest.warns(ipu.Float64Warning) as found:
        ipu.compile(many, args=[ipu.TensorSpec((3,), np.int32)], target=SMALL)
    assert len(found) == 1
