"""Rounding to odd, which loses nothing that a second rounding would miss.

A number rounded to odd has its last bit set wherever something was cut off. So it is no tie, nor on the wrong side of
one, when it is rounded again to two bits less or fewer (Boldo and Melquiond, "When double rounding is odd", 2005).
"""

import numpy as np


def odd_single(x: np.ndarray) -> np.ndarray:
    """float32 of float64 numbers, rounded to odd; float32 as it is.

    >>> odd_single(np.array([1 + 2.0**-40])).tolist() == [1 + 2.0**-23]
    True
    """
    if x.dtype != np.float64:
        return x
    near = np.asarray(x.astype(np.float32))
    near = np.where(np.abs(near.astype(np.float64)) > np.abs(x), np.nextafter(near, np.float32(0)), near)
    inexact = (near.astype(np.float64) != x) & np.isfinite(near)
    return (near.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)


def odd_double(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """float64 of 64-bit integers, rounded to odd.

    >>> odd_double(np.array([2**60 + 1, 7]), np.empty(2)).tolist() == [2.0**60 + 2**11, 7]
    True
    """
    kept = np.right_shift(a, 11) | (np.bitwise_and(a, 2047) != 0).astype(a.dtype)
    high = np.right_shift(a, 53)
    out[...] = np.where((high == 0) | (high + 1 == 0), a, np.left_shift(kept, 11))
    return out


def odd_multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``a * b + c`` of float64 numbers whose product is exact, as those of narrower types are, rounded to odd.

    The error of the sum is Knuth's (The Art of Computer Programming, volume 2, 4.2.2).

    >>> three, five, little = np.array([[3.0], [5.0], [2.0**-100]])
    >>> odd_multiply_add(three, five, little, np.empty(1)).tolist() == [15 + 2.0**-49]
    True
    >>> odd_multiply_add(three, five, little, little).tolist() == [15 + 2.0**-49]
    True
    """
    product = np.multiply(a, b)
    total = np.asarray(np.add(product, c))  # out may be the memory of c
    part = np.subtract(total, product)
    error = (product - (total - part)) + (c - part)
    away = np.isfinite(error) & (error != 0) & (total.view(np.int64) & 1 == 0)
    out[...] = np.where(away, np.nextafter(total, np.copysign(np.inf, error)), total) if away.any() else total
    return out
