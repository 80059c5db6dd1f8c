"""Functions that take several calls per array, on pieces of it that stay in the cache."""

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

import numpy as np

Function: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]

_CHUNK = 65536  # elements; two threads that call NumPy for less wait for each other more than they work


def in_chunks(function: Function) -> Function:
    """``function`` of the form (array, out) on one piece of contiguous arrays after the other.

    >>> def twice(a, out):
    ...     assert a.size <= 65536
    ...     return np.multiply(a, 2, out)
    >>> int(in_chunks(twice)(np.arange(100_000), np.empty(100_000, int))[-1])
    199998
    """

    @wraps(function)
    def run(a: np.ndarray, out: np.ndarray) -> np.ndarray:
        if a.size <= _CHUNK or not (a.flags.c_contiguous and out.flags.c_contiguous):
            return function(a, out)
        source, target = a.reshape(-1), out.reshape(-1)
        for start in range(0, a.size, _CHUNK):
            function(source[start : start + _CHUNK], target[start : start + _CHUNK])
        return out

    return run
