"""Float functions that NumPy lacks, or has in another form.

The larger and the smaller of two numbers have the right zero: +0 is larger than -0, as ``arith.maximumf`` has it. NumPy
gives one of the two, whichever the processor's instruction takes.
"""

import numpy as np


def larger(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The larger number; NaN if either is. ``out`` may be an operand.

    >>> larger(np.float32([0.0, -0.0, -0.0, 3]), np.float32([-0.0, 0.0, -0.0, 2]), np.empty(4, np.float32)).tolist()
    [0.0, 0.0, -0.0, 3.0]
    """
    found = np.asarray(np.maximum(a, b))
    zero = found == 0
    if zero.any():
        np.copyto(found, 0, where=zero & ~(np.signbit(a) & np.signbit(b)))
    np.copyto(out, found)
    return out


def smaller(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The smaller number; NaN if either is. ``out`` may be an operand.

    >>> smaller(np.float32([0.0, -0.0, 0.0, 3]), np.float32([-0.0, 0.0, 0.0, 2]), np.empty(4, np.float32)).tolist()
    [-0.0, -0.0, 0.0, 2.0]
    """
    found = np.asarray(np.minimum(a, b))
    zero = found == 0
    if zero.any():
        np.copyto(found, found.dtype.type(-0.0), where=zero & (np.signbit(a) | np.signbit(b)))
    np.copyto(out, found)
    return out


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
