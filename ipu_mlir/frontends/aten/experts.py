"""Products of rows in groups, each with a matrix of its own, as layers of experts have them."""

from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import constant, rule


def _members(ends: Any, count: int) -> Any:
    """Which of ``count`` rows are in each group, whose ends are ``ends``."""
    group = np.searchsorted(ends, constant(np.arange(count), ends.dtype), "right")
    return group[None, :] == np.arange(ends.shape[0])[:, None]


def _of_rows(x: Any, matrices: Any, ends: Any) -> Any:
    """Each row of ``x`` times the matrix of its group: one product of rows that are zeros but for their group."""
    own = np.swapaxes(_members(ends, x.shape[0]), 0, 1)[:, :, None]
    apart = np.where(own, x[:, None, :], np.asarray(0, x.dtype)[()])
    return np.matmul(np.reshape(apart, (x.shape[0], -1)), np.reshape(matrices, (-1, matrices.shape[-1])))


def _of_parts(x: Any, other: Any, ends: Any) -> Any:
    """For each group the product of its columns of ``x`` and its rows of ``other``."""
    own = _members(ends, other.shape[0])[:, None, :]
    return np.matmul(np.where(own, x[None], np.asarray(0, x.dtype)[()]), other)


@rule("_grouped_mm.default")
def _grouped(x: Any, other: Any, ends: Any = None, bias: Any = None, out_dtype: Any = None) -> Any:
    if len(x.shape) == len(other.shape):
        found = np.matmul(x, other) if ends is None else _of_parts(x, other, ends)
    elif len(x.shape) == 2:
        found = _of_rows(x, other, ends)
    else:
        found = np.swapaxes(_of_rows(np.swapaxes(other, 0, 1), np.swapaxes(x, 1, 2), ends), 0, 1)
    return found if bias is None else found + bias


def _backward(x: Any, matrices: Any, ends: Any, gradient: Any) -> Any:
    by_x = _of_rows(gradient, np.swapaxes(matrices, 1, 2), ends)
    return by_x, _of_parts(np.swapaxes(x, 0, 1), gradient, ends)


OF_LIBRARIES = {
    "transformers.grouped_mm_fallback.default": rule()(_of_rows),
    "transformers.grouped_mm_fallback_backward.default": rule()(_backward),
}
"""By name, ops that are there when a library has defined them, and whose definitions ask for values."""
