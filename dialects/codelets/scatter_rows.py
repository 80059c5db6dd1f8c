"""Scatter of whole rows, as in the gradient of an embedding."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_MOST_ROUNDS = 8  # then so many places are equal that one ufunc.at is faster


def rows_of(index: Sequence[Array], shape: tuple[int, ...]) -> Array | None:
    """The row that each update goes to, if every update is a whole row of a matrix; None otherwise.

    >>> rows_of((np.array([[4], [2]]), np.array([[0, 1, 2]])), (5, 3))
    array([4, 2])
    """
    if len(shape) != 2 or index[0].shape[-1:] != (1,) or index[1].size != shape[1]:
        return None
    if index[1].shape[-1] != shape[1] or not np.array_equal(index[1].ravel(), np.arange(shape[1])):
        return None
    return index[0].ravel()


def scatter_rows(combine: np.ufunc | None, elements: Array, rows: Array, updates: Array) -> None:
    """Put ``updates`` into ``rows`` of ``elements``, in their order.

    Rows that come several times are done in rounds, each with the next update of every row: as exact as one by one.
    """
    if combine is None:
        elements[rows] = updates
        return
    left = np.arange(len(rows))
    for _ in range(_MOST_ROUNDS):
        _, first = np.unique(rows[left], return_index=True)
        now = left[first]
        elements[rows[now]] = combine(elements[rows[now]], updates[now])
        if len(now) == len(left):
            return
        left = np.delete(left, first)
    combine.at(elements, rows[left], updates[left])
