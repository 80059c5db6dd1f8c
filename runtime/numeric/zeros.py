"""The larger and the smaller of two numbers with the right zero: +0 is larger than -0, as ``arith.maximumf`` has it.

NumPy gives one of the two zeros, whichever the processor's instruction takes.
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
