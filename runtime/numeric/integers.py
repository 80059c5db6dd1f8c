"""Integer arithmetic that rounds as MLIR says. Division by zero is undefined there; here it gives some number."""

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
