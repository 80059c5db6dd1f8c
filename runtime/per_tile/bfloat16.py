"""bf16: its numbers lie in float32 arrays, rounded to bf16 after each operation."""

import importlib.util
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def round_to_bf16(x: Any) -> Any:
    """The nearest bf16, ties to even, of every element of a float array, as float32; one rounding also from f64.

    >>> round_to_bf16(np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-40])).tolist()
    [1.0, 1.015625, 1.0078125]
    """
    single = _to_odd(np.asarray(x))
    bits = single.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(single), np.copysign(np.float32(np.nan), single), rounded.view(np.float32))


def from_integers(x: Any) -> Any:
    """The nearest bf16, ties to even, of every integer of up to 64 bits, as float32.

    A float has the 53 highest bits of such a number; of those that it lacks, the last one says whether any was set.

    >>> from_integers(np.array([2**60 + 2**52, 2**60 + 2**52 + 1, -3])).tolist() == [2.0**60, 2.0**60 + 2**53, -3]
    True
    """
    numbers = np.asarray(x)
    if numbers.dtype.itemsize < 8:
        return round_to_bf16(numbers.astype(np.float64))
    step = numbers.dtype.type(2**11)
    rest = numbers % step
    whole = numbers - rest
    odd = np.where((rest != 0) & (whole // step % 2 == 0), whole + step, whole)
    high = numbers // numbers.dtype.type(2**53)
    return round_to_bf16(np.where((high == 0) | (high + 1 == 0), numbers, odd).astype(np.float64))


def bits_of(x: Any) -> Any:
    """The 16 bits of every bf16, as uint16."""
    return (np.asarray(x).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def from_bits(bits: Any) -> Any:
    """The bf16 that has these 16 bits, of any integer type of that width."""
    return (np.asarray(bits).view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def is_host_array(array: Array) -> bool:
    """Whether a host array holds bf16: the type of the package ml_dtypes, or uint16 as bit patterns."""
    return array.dtype.name == "bfloat16" or array.dtype == np.uint16


def from_host(array: Array) -> Array:
    """The float32 numbers of a host array of bf16."""
    return np.asarray(from_bits(np.ascontiguousarray(array).view(np.uint16))).reshape(array.shape)


def to_host(array: Array) -> Array:
    """A host array of float32 numbers that are bf16: of the type of ml_dtypes if it is installed, else bit patterns."""
    bits = np.asarray(bits_of(array))
    if importlib.util.find_spec("ml_dtypes") is None:
        return bits
    return bits.view(importlib.import_module("ml_dtypes").bfloat16)


def _to_odd(x: Array) -> Array:
    """float32 rounded to odd, so that rounding once more cannot see a tie that was none."""
    if x.dtype != np.float64:
        return np.asarray(x, np.float32)
    near = np.asarray(x.astype(np.float32))
    near = np.where(np.abs(near.astype(np.float64)) > np.abs(x), np.nextafter(near, np.float32(0)), near)
    inexact = near.astype(np.float64) != x
    return (near.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
