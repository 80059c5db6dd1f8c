"""Scatter of whole rows, as in the gradient of an embedding."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_MOST_ROUNDS = 8  # then so many places are equal that one ufunc.at is faster
_FEW_ELEMENTS = 4096  # then one ufunc.at on single elements is faster: 256 rows of 16 took 11 us, in rounds 36 us
_CHUNK_ELEMENTS = 65536  # 256 KiB of f32: 4096 rows of 128 took 0.61 ms in such pieces, 0.68 ms at once


def rows_of(index: Sequence[Array], shape: tuple[int, ...]) -> Array | None:
    """The row that each update goes to, if every update is a whole row of a matrix; None otherwise.

    >>> rows_of((np.array([[4], [2]]), np.array([[0, 1, 2]])), (5, 3))
    array([4, 2])
    """
    if len(shape) != 2 or index[0].shape[-1:] != (1,) or index[1].size != shape[1]:
        return None
    columns = index[1].astype(np.intp, copy=False)
    if columns.shape[-1] != shape[1] or columns.tobytes() != _counting(shape[1]).tobytes():
        return None
    return index[0].ravel()


@lru_cache(maxsize=16)
def _counting(size: int) -> Array:
    """0, 1, 2, ... below ``size``; loops ask for the same ones in every iteration."""
    counting = np.arange(size)
    counting.setflags(write=False)
    return counting


def scatter_rows(combine: np.ufunc | None, elements: Array, rows: Array, updates: Array) -> None:
    """Put ``updates`` into ``rows`` of ``elements``, in their order.

    Rows that come several times are done in rounds, each with the next update of every row: as exact as one by one.
    """
    if combine is None:
        elements[rows] = updates
        return
    is_crowded = len(rows) > _MOST_ROUNDS * len(elements)  # after all iterations there would be rows left
    if (updates.size <= _FEW_ELEMENTS or is_crowded) and elements.flags.c_contiguous:
        width = elements.shape[1]
        at_once = max(1, _CHUNK_ELEMENTS // max(1, width))
        for start in range(0, len(rows), at_once):
            chosen = slice(start, start + at_once)
            places = rows[chosen, None] * np.intp(width) + _counting(width)  # narrow indices may not hold such numbers
            combine.at(elements.reshape(-1), places.reshape(-1), updates[chosen].reshape(-1))
        return
    left = np.arange(len(rows))
    for _ in range(_MOST_ROUNDS):
        is_first = first_of_each(rows[left], len(elements))
        _update_different_rows(combine, elements, rows, updates, left[is_first])
        left = left[~is_first]
        if not left.size:
            return
    combine.at(elements, rows[left], updates[left])


def first_of_each(rows: Array, size: int) -> Array:
    """Which of ``rows``, numbers below ``size``, did not come before.

    >>> first_of_each(np.array([4, 2, 4, 0]), 5)
    array([ True,  True, False,  True])
    """
    earliest = np.empty(size, np.intp)  # only the places of ``rows`` are written, and read: no sorting
    order = np.arange(len(rows))
    earliest[rows[::-1]] = order[::-1]  # of several numbers for one place, NumPy keeps the last
    return earliest[rows] == order


def _update_different_rows(combine: np.ufunc, elements: Array, rows: Array, updates: Array, numbers: Array) -> None:
    """Combine updates ``numbers`` into their rows, no two of which are the same; a cache full at a time."""
    at_once = max(1, _CHUNK_ELEMENTS // max(1, elements.shape[1]))
    shape = (min(at_once, len(numbers)), elements.shape[1])
    old, new = np.empty(shape, elements.dtype), np.empty(shape, updates.dtype)
    for start in range(0, len(numbers), at_once):
        chosen = numbers[start : start + at_once]
        places = rows[chosen]
        here = _rows_into(old[: len(chosen)], elements, places)
        elements[places] = combine(here, _rows_into(new[: len(chosen)], updates, chosen), out=here)


def _rows_into(out: Array, source: Array, places: Array) -> Array:
    """Rows ``places`` of ``source``, in ``out`` where that is faster."""
    if not source.flags.c_contiguous:  # ``take`` would copy all of it first
        return source[places]
    return source.take(places, 0, out, "clip")  # any other mode fills a copy of ``out`` first
