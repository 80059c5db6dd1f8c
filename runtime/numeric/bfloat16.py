"""bf16, whose numbers lie in float32 arrays here: rounding to them, their bits, and arrays of the host.

A host array of bf16 has the type of the package ml_dtypes where that is installed, else it holds the bits as uint16.
"""

import importlib
import importlib.util
from functools import lru_cache
from typing import Any

import numpy as np


@lru_cache(maxsize=1)
def host_dtype() -> np.dtype[Any]:
    """The dtype of arrays of bf16 that are given back."""
    if importlib.util.find_spec("ml_dtypes") is None:
        return np.dtype(np.uint16)
    return np.dtype(importlib.import_module("ml_dtypes").bfloat16)


def is_host_array(array: np.ndarray) -> bool:
    """True for arrays of ml_dtypes' bfloat16, and for bits."""
    return array.dtype.name == "bfloat16" or array.dtype == np.uint16


def from_host(array: np.ndarray) -> np.ndarray:
    """The float32 array of the numbers in a host array.

    >>> from_host(np.array([0x3F80, 0xC000], np.uint16)).tolist()
    [1.0, -2.0]
    """
    bits = np.ascontiguousarray(array).view(np.uint16).astype(np.uint32)
    return np.left_shift(bits, 16, bits).view(np.float32).reshape(array.shape)


def to_host(array: np.ndarray) -> np.ndarray:
    """The host array of float32 numbers that are bf16."""
    bits = np.right_shift(np.ascontiguousarray(array).view(np.uint32), 16).astype(np.uint16)
    return bits.view(host_dtype()).reshape(array.shape)


def round_to_bf16(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The nearest bf16, ties to even, of float32 or float64 numbers; one rounding, not two. ``out`` may be ``a``.

    >>> round_to_bf16(np.float32([1 + 2**-8, 1 + 3 * 2**-8, np.nan]), np.empty(3, np.float32)).tolist()
    [1.0, 1.015625, nan]
    """
    single = _to_odd(a) if a.dtype == np.float64 else a
    undefined = np.isnan(single)
    bits = single.view(np.uint32)
    last = np.asarray(np.right_shift(bits, 16))
    np.bitwise_and(last, 1, last)
    np.add(last, 0x7FFF, last)
    np.add(last, bits, last)
    np.bitwise_and(last, 0xFFFF0000, out.view(np.uint32))
    if undefined.any():  # adding may have carried over the whole exponent
        out[...] = np.where(undefined, np.float32(np.nan), out)
    return out


def odd_double(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """float64 of 64-bit integers, rounded to odd where it lacks the bits, so that rounding once more sees no false tie.

    >>> odd_double(np.array([2**60 + 1, 7]), np.empty(2)).tolist() == [2.0**60 + 2**11, 7]
    True
    """
    kept = np.right_shift(a, 11) | (np.bitwise_and(a, 2047) != 0).astype(a.dtype)
    high = np.right_shift(a, 53)
    out[...] = np.where((high == 0) | (high + 1 == 0), a, np.left_shift(kept, 11))
    return out


def bits_of_bf16(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The 16 bits of every bf16 as integers.

    >>> hex(bits_of_bf16(np.float32([1.0]), np.empty(1, np.int16))[0])
    '0x3f80'
    """
    np.copyto(out, np.right_shift(a.view(np.int32), 16), "unsafe")
    return out


def bf16_of_bits(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The bf16 of 16 bits.

    >>> bf16_of_bits(np.int16([0x3F80]), np.empty(1, np.float32)).tolist()
    [1.0]
    """
    target = out.view(np.int32)
    np.copyto(target, a, "unsafe")
    np.left_shift(target, 16, target)
    return out


def _to_odd(x: np.ndarray) -> np.ndarray:
    """float32 rounded to odd, so that rounding once more cannot see a tie that was none."""
    near = np.asarray(x.astype(np.float32))
    near = np.where(np.abs(near.astype(np.float64)) > np.abs(x), np.nextafter(near, np.float32(0)), near)
    inexact = (near.astype(np.float64) != x) & np.isfinite(near)
    return (near.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
