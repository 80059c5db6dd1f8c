"""Rounding to floats of 16 and 8 bits, and their bits, against NumPy and ml_dtypes; small arrays and large ones."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.narrow_floats import host_dtype
from ipu_mlir.runtime import numeric
from ipu_mlir.runtime.numeric.narrow_floats import NAMES, bits_dtype, bits_of, of_bits, round_to

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in cast:RuntimeWarning")
SIZES = (300, 200_000)
TYPES = sorted(NAMES)


def numbers(size: int) -> np.ndarray:
    """Any bits, and numbers near to what the types can say."""
    generator = np.random.default_rng(size)
    anything = generator.integers(0, 2**32, size, np.uint32).view(np.float32)
    near = generator.standard_normal(size) * 10.0 ** generator.uniform(-9, 6, size)
    edges = [
        0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        65504,
        65519.996,
        65520,
        2.0**-24,
        2.0**-25,
        3 * 2.0**-26,
        448,
        464,
        3e38,
    ]
    with np.errstate(all="ignore"):
        return np.concatenate([anything, near, edges]).astype(np.float32)


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    bits, wanted = found.view(np.uint32), expected.view(np.uint32)
    wrong = (bits != wanted) & ~(np.isnan(found) & np.isnan(expected))
    assert not wrong.any(), (found[wrong][:3], expected[wrong][:3])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", TYPES)
def test_f32_is_rounded(name, size):
    x = numbers(size)
    with np.errstate(all="ignore"):
        expected = x.astype(host_dtype(name)).astype(np.float32)
        found = numeric.function(round_to(name))(x, np.empty_like(x))
    assert_same(found, expected)


@pytest.mark.parametrize("name", TYPES)
def test_rounding_may_write_over_its_operand(name):
    x = numbers(70_000)
    with np.errstate(all="ignore"):
        expected = numeric.function(round_to(name))(x, np.empty_like(x))
        numeric.function(round_to(name))(x, x)
    assert_same(x, expected)


@pytest.mark.parametrize("name", TYPES)
def test_strided_arrays_are_rounded(name):
    x = numbers(70_000)[:140_000].reshape(700, 200)
    found = np.zeros((200, 700), np.float32)
    with np.errstate(all="ignore"):
        numeric.function(round_to(name))(x.T, found)
        expected = x.astype(host_dtype(name)).astype(np.float32)
    assert_same(np.ascontiguousarray(found.T), expected)


@pytest.mark.parametrize(("name", "digits"), [("f16", 10), ("bf16", 7), ("f8E3M4", 4), ("f8E4M3FN", 3), ("f8E5M2", 2)])
def test_f64_is_rounded_once(name, digits):
    """A little more than a tie, which rounding to f32 first would make a tie."""
    unit = 2.0**-digits
    x = np.array([1 + unit / 2 + 2.0**-40, 1 + unit / 2, 1 + 3 * unit / 2 - 2.0**-40])
    found = numeric.function(round_to(name))(x, np.empty(3, np.float32))
    assert found.tolist() == [1 + unit, 1, 1 + unit]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", TYPES)
def test_bits_there_and_back(name, size):
    generator = np.random.default_rng(size)
    bits = generator.integers(0, 256, size, np.uint8) if bits_dtype(name).itemsize == 1 else (
        generator.integers(0, 65536, size, np.uint16)
    )  # fmt: skip
    given = bits.view(bits_dtype(name))
    found = numeric.function(of_bits(name))(given, np.empty(size, np.float32))
    assert_same(found, bits.view(host_dtype(name)).astype(np.float32))
    with np.errstate(all="ignore"):
        back = numeric.function(bits_of(name))(found, np.empty_like(given))
    is_number = ~np.isnan(found)
    assert (back[is_number] == given[is_number]).all()
    assert np.isnan(back.view(host_dtype(name)).astype(np.float32)[~is_number]).all()
