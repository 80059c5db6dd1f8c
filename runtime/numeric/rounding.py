"""Float functions that NumPy has in another form."""

import numpy as np


def round_half_away(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The nearest whole number, halves away from zero, as ``math.round``.

    >>> round_half_away(np.float32([2.5, -2.5, 0.49999997]), np.empty(3, np.float32)).tolist()
    [3.0, -3.0, 0.0]
    """
    whole = np.trunc(a)
    step = np.greater_equal(np.absolute(np.subtract(a, whole)), 0.5)
    np.add(whole, np.copysign(step.astype(out.dtype), a), out)
    return np.copysign(out, a, out)


def is_normal(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """True for numbers that are neither zero, subnormal, infinite nor NaN.

    >>> is_normal(np.float32([1, 0, 1e-40, np.inf]), np.empty(4, bool)).tolist()
    [True, False, False, False]
    """
    size = np.absolute(a)
    np.greater_equal(size, np.finfo(a.dtype).tiny, out)
    return np.logical_and(out, np.isfinite(size), out)
