"""Operations of random programs on state: each works on traced tensors, and on arrays by NumPy alone."""

from typing import Any

import numpy as np

import ipu_mlir as ipu

MOST = 9
"""Floats stay whole numbers up to it, so that their sums and products are exact in any order."""


def bounded(x: Any) -> Any:
    if x.dtype in (np.float32, np.float16):
        return np.clip(x, x.dtype.type(-MOST), x.dtype.type(MOST))
    return x


def _index(i: Any, size: int) -> int:
    return int(i) + size if int(i) < 0 else int(i)


def set_at(x: Any, i: Any, value: Any, *, add: bool = False) -> Any:
    """``x`` with another element ``i``; what lies outside is dropped, and negative indices count from the end."""
    if not isinstance(x, np.ndarray):
        return x.at[i].add(value) if add else x.at[i].set(value)
    new, place = x.copy(), _index(i, len(x))
    if 0 <= place < len(x):
        new[place] = new[place] + value if add else value
    return new


def element(x: Any, i: Any) -> Any:
    """The element ``i``, or the nearest."""
    if not isinstance(x, np.ndarray):
        return x[i]
    return x[min(max(_index(i, len(x)), 0), len(x) - 1)]


def _window(x: np.ndarray, i: Any, size: int) -> slice:
    start = min(max(_index(i, len(x)), 0), len(x) - size)
    return slice(start, start + size)


def slice_at(x: Any, i: Any, size: int) -> Any:
    """``size`` elements along the first dimension, moved to where they fit."""
    if not isinstance(x, np.ndarray):
        return ipu.dynamic_slice(x, (i, *(0,) * (x.ndim - 1)), (size, *x.shape[1:]))
    return x[_window(x, i, size)].copy()


def updated_slice(x: Any, part: Any, i: Any) -> Any:
    """``x`` with ``part`` in the place of as many elements, moved to where they fit."""
    if not isinstance(x, np.ndarray):
        return ipu.dynamic_update_slice(x, part, (i, *(0,) * (x.ndim - 1)))
    new = x.copy()
    new[_window(x, i, len(part))] = part
    return new


def _added_rows(x: Any, i: Any) -> Any:
    places = np.array([0, len(x) - 1])
    if not isinstance(x, np.ndarray):
        return bounded(x.at[places].add(element(x, i)))
    new = x.copy()
    np.add.at(new, places, element(x, i))
    return bounded(new)


def _one(x: Any) -> Any:
    return x.dtype.type(1)


FORMS: dict[str, Any] = {
    "set": lambda x, i: set_at(x, i, x[-1]),
    "set a constant": lambda x, i: set_at(x, i, _one(x)),
    "add": lambda x, i: bounded(set_at(x, i, _one(x), add=True)) if x.dtype != bool else x,
    "set the first": lambda x, i: set_at(x, 0, x[-1]),
    "set two": lambda x, i: set_at(set_at(x, i, x[0]), i + np.int32(1), x[-1]),
    "swap": lambda x, i: set_at(set_at(x, 0, x[-1]), -1, x[0]),
    "swap at": lambda x, i: set_at(set_at(x, 0, element(x, i)), i, x[0]),
    "add rows": lambda x, i: _added_rows(x, i) if x.dtype != bool else x,
    "turn": lambda x, i: np.concatenate([x[1:], x[:1]]),
    "shift": lambda x, i: updated_slice(x, x[1:], 0),
    "shift back": lambda x, i: updated_slice(x, x[:-1], 1),
    "a slice of itself": lambda x, i: updated_slice(x, x[1:2], i),
    "a slice to another": lambda x, i: updated_slice(x, slice_at(x, i, 2), 0),
    "ring": lambda x, i: np.concatenate([updated_slice(x[1:], x[:1], i), x[:1]]),
    "reverse": lambda x, i: x[::-1],
    "sort": lambda x, i: np.sort(x, axis=-1),
    "sums": lambda x, i: bounded(np.cumsum(x, axis=0, dtype=x.dtype)) if x.dtype != bool else x,
    "transpose": lambda x, i: x.T if x.ndim == 2 and x.shape[0] == x.shape[1] else x,
    "fill a part": lambda x, i: _part_filled(x),
}
"""Updates of a tensor of one dimension or more by an index; its first size is two at least."""


def _part_filled(x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return x.at[1:].set(x[0])
    new = x.copy()
    new[1:] = x[0]
    return new


def _arithmetic(operation: Any, of_truths: Any) -> Any:
    return lambda x, y: of_truths(x, y) if x.dtype == bool else bounded(operation(x, y))


PURE: dict[str, Any] = {
    "sum": _arithmetic(lambda x, y: x + y, lambda x, y: x ^ y),
    "difference": _arithmetic(lambda x, y: x - y, lambda x, y: x & ~y),
    "product": _arithmetic(lambda x, y: x * y, lambda x, y: x | y),
    "larger": np.maximum,
    "chosen": _arithmetic(lambda x, y: np.where(x > y, y, x), lambda x, y: np.where(x, y, x)),
    "opposite": _arithmetic(lambda x, y: -x, lambda x, y: ~x),
    "other": lambda x, y: y,
    "zeros": lambda x, y: np.zeros(x.shape, x.dtype) | y if x.dtype == bool else x - x,
    "rows": lambda x, y: bounded(x + y.sum(axis=0, dtype=x.dtype)) if x.ndim and x.dtype != bool else x,
    "matrices": lambda x, y: (
        bounded(x @ y) if x.ndim == 2 and x.shape[0] == x.shape[1] and x.dtype == np.float32 else x
    ),
}
"""Operations on two tensors of one shape and type that give one more of them."""
