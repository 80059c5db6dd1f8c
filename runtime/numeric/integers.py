"""Integer arithmetic that rounds as MLIR says, bits that are counted, and floats that become integers.

What MLIR leaves open has one meaning here: a division by zero gives 0, and so does its remainder.
"""

import numpy as np


def divide_to_zero(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``a / b`` rounded towards zero, as ``arith.divsi``.

    >>> divide_to_zero(np.array([-7, 7]), np.array([2, -2]), np.empty(2, int)).tolist()
    [-3, -3]
    """
    remainder = np.fmod(a, b)  # has the sign of a, so a - remainder is an exact multiple of b
    return np.floor_divide(np.subtract(a, remainder), b, out)


def ceil_divide(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``a / b`` rounded up, as ``arith.ceildivsi`` and ``arith.ceildivui``.

    >>> ceil_divide(np.array([-7, 7]), np.array([2, 2]), np.empty(2, int)).tolist()
    [-3, 4]
    """
    rest = np.remainder(a, b) != 0
    np.floor_divide(a, b, out)
    return np.add(out, rest, out, casting="unsafe")


def integer_power(base: np.ndarray, exponent: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``base ** exponent`` with wrap-around, as ``math.ipowi``: 0 for negative exponents unless |base| is 1.

    >>> integer_power(np.array([2, -1, 3]), np.array([10, -3, -1]), np.empty(3, int)).tolist()
    [1024, -1, 0]
    """
    negative = np.less(exponent, 0)
    power = np.power(base, np.where(negative, 0, exponent))
    odd = np.bitwise_and(exponent, 1) != 0
    of_unit = np.where(np.equal(base, 1), 1, np.where(np.equal(base, -1), np.where(odd, -1, 1), 0))
    np.copyto(out, np.where(negative, of_unit, power), casting="unsafe")
    return out


def saturated_integer(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Floats without their fraction, as ``arith.fptosi`` and ``fptoui``: the nearest that fits, and 0 for NaN.

    >>> saturated_integer(np.array([-1.5, 300.0, np.inf, np.nan]), np.empty(4, np.uint8)).tolist()
    [0, 255, 255, 0]
    """
    if out.dtype in _CHECKED:
        return bounded_integer(a, out)
    return _saturated_by_bounds(a, out)


def bounded_integer(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``saturated_integer`` of floats that are known to fit into ``out``, or to be NaN.

    The processor takes note of a number that it cannot convert, so no pass over the numbers looks for one.

    >>> bounded_integer(np.array([-1.5, np.nan]), np.empty(2, np.int8)).tolist()
    [-1, 0]
    """
    if np.may_share_memory(a, out):  # then it would be too late to look at the numbers afterwards
        return _saturated_by_bounds(a, out)
    try:
        with np.errstate(invalid="raise"):
            np.copyto(out, a, casting="unsafe")
    except FloatingPointError:
        _saturate(a, out)
    return out


_CHECKED = (np.dtype(np.int32), np.dtype(np.int64))
"""The types that the processor itself converts to; narrower and unsigned numbers are the low bits of such a number."""


def _limits(dtype: np.dtype) -> tuple[int, int]:
    """The lowest number of an integer type and the first that is too large: floats hold both exactly."""
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max) + 1


def _saturated_by_bounds(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    low, end = _limits(out.dtype)
    if not a.size or (a.min() >= low and a.max() < end):  # not so for NaN; twice as quick as to clip first
        np.copyto(out, a, casting="unsafe")
        return out
    return _saturate(a, out)


def _saturate(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    low, end = _limits(out.dtype)
    below, above = np.less(a, low), np.greater_equal(a, end)
    fits = np.greater_equal(a, low) & ~above
    np.copyto(out, np.where(fits, a, 0), casting="unsafe")
    np.copyto(out, low, where=below)
    np.copyto(out, end - 1, where=above)
    return out


def count_ones(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The number of bits that are set.

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
