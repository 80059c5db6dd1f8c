"""Choosing between two arrays element by element, without branches and without a temporary per call."""

import numpy as np

_SMALL = 4096  # elements; below, np.where is faster than three passes of bit arithmetic
_SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def select(condition: np.ndarray, yes: np.ndarray, no: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``yes`` where ``condition`` holds, else ``no``; exact for every bit pattern. ``out`` may be an operand.

    >>> select(np.array([True, False]), np.float32([1, 2]), np.float32(np.nan), np.empty(2, np.float32)).tolist()
    [1.0, nan]
    """
    if out.size < _SMALL or out.dtype == np.bool_:
        np.copyto(out, np.where(condition, yes, no))
        return out
    # masked copies cost ten times this when the condition is random
    integer = _SIGNED[out.itemsize]
    target = out.view(integer)
    yes, no = np.asarray(yes, out.dtype).view(integer), np.asarray(no, out.dtype).view(integer)
    mask = np.negative(condition.view(np.int8), dtype=integer)  # 0 or all ones
    if no.ndim == 0 and no == 0:
        np.bitwise_and(yes, mask, target)
    elif yes.ndim == 0 and yes == 0:
        np.bitwise_and(no, np.invert(mask, mask), target)
    else:
        np.bitwise_xor(no, np.bitwise_and(np.bitwise_xor(yes, no), mask), target)
    return out


def select_bool(condition: np.ndarray, yes: np.ndarray, no: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``select`` for truth values.

    >>> condition, yes, no = np.array([[True, False], [False, True], [True, True]])
    >>> select_bool(condition, yes, no, np.empty(2, bool)).tolist()
    [False, True]
    """
    kept = np.greater(no, condition)  # no and not condition
    np.logical_and(condition, yes, out)
    return np.logical_or(out, kept, out)


def positive_bool(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The absolute value of an i1, which is the i1 itself."""
    np.copyto(out, a)
    return out
