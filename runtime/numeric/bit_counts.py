"""Bits of unsigned integers, counted."""

import numpy as np


def count_ones(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """How many bits are set.

    >>> count_ones(np.array([0, 7], np.uint32), np.empty(2, np.uint32)).tolist()
    [0, 3]
    """
    np.copyto(out, np.bitwise_count(a), casting="unsafe")
    return out


def count_trailing_zeros(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Zeros below the lowest set bit; the width for 0.

    >>> count_trailing_zeros(np.array([0, 8], np.uint32), np.empty(2, np.uint32)).tolist()
    [32, 3]
    """
    one = a.dtype.type(1)
    below = np.bitwise_and(np.invert(a), np.subtract(a, one))  # ones exactly where the trailing zeros are
    return count_ones(below, out)


def count_leading_zeros(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Zeros above the highest set bit; the width for 0.

    >>> count_leading_zeros(np.array([0, 1], np.uint32), np.empty(2, np.uint32)).tolist()
    [32, 31]
    """
    filled = np.array(a)  # every bit below the highest set one becomes set
    shift = 1
    while shift < 8 * a.dtype.itemsize:
        filled |= filled >> a.dtype.type(shift)
        shift *= 2
    return count_ones(np.invert(filled), out)
