"""Where along an axis the largest or the smallest element stands for the first time."""

import numpy as np


def first_maximum(a: np.ndarray, axis: int, out: np.ndarray) -> np.ndarray:
    """The place of the first of the largest elements along ``axis``; -1 where none is above the lowest number.

    As a loop that keeps ``maximum(best, a[i])``, and the place wherever ``a[i] > best``: it finds nothing after a NaN.

    >>> first_maximum(np.array([[1, 7, 7], [2, np.nan, 3], [-np.inf, -np.inf, np.nan]]), 1, np.empty(3, int)).tolist()
    [1, 0, -1]
    """
    a.argmax(axis, out)
    lowest = -np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).min
    return _settled(a, axis, out, np.greater, lowest)


def first_minimum(a: np.ndarray, axis: int, out: np.ndarray) -> np.ndarray:
    """``first_maximum`` with order turned around.

    >>> first_minimum(np.array([3, 1, 1]), 0, np.empty((), int)).tolist()
    1
    """
    a.argmin(axis, out)
    highest = np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).max
    return _settled(a, axis, out, np.less, highest)


def _settled(a: np.ndarray, axis: int, out: np.ndarray, better: np.ufunc, worst: float) -> np.ndarray:
    """``out`` corrected where it is the place of a NaN, or of what is no ``better`` than ``worst``."""
    found = np.take_along_axis(a, np.expand_dims(out, axis), axis).squeeze(axis)
    rows = np.moveaxis(a, axis, -1)
    for row in map(tuple, np.argwhere(~better(found, worst))):
        end = int(out[row]) if np.isnan(found[row]) else 0
        out[row] = -1
        if end:
            before = rows[row][:end]
            place = before.argmax() if better is np.greater else before.argmin()
            if better(before[place], worst):
                out[row] = place
    return out
