"""Products of matrices, also of rows in groups, whose sums are made in float32 for floats of 16 bits."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import as_operand, common_dtype, constant, rule
from ipu_mlir.specs.tensor_types import kind_of


@rule("mm.default", "bmm.default", "matmul.default", "mv.default", "dot.default")
def _product(x: Any, other: Any) -> Any:
    return np.matmul(x, other)


@rule("vdot.default")
def _vdot(x: Any, other: Any) -> Any:
    return np.matmul(np.conjugate(x) if x.dtype.kind == "c" else x, other)


@rule("linear.default")
def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    found = np.matmul(x, np.swapaxes(weight, 0, 1) if len(weight.shape) > 1 else weight)
    return found if bias is None else found + bias


@rule("addmm.default", "baddbmm.default", "addmv.default")
def _added(x: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum_of(np.matmul, x, one, other, beta, alpha)


@rule("addbmm.default")
def _added_batches(x: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum_of(partial(np.einsum, "bij,bjk->ik"), x, one, other, beta, alpha)


@rule("addr.default")
def _added_outer(x: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum_of(lambda one, other: one[:, None] * other[None, :], x, one, other, beta, alpha)


def _sum_of(multiply: Callable[[Any, Any], Any], x: Any, one: Any, other: Any, beta: Any, alpha: Any) -> Any:
    """``beta`` times ``x``, of which nothing counts if that is 0, plus ``alpha`` times a product.

    Floats of few bits are multiplied by factors in f32, which are no numbers of theirs, and rounded once.
    """
    dtype = common_dtype([x, one])
    if kind_of(dtype) == "f" and dtype.itemsize < 4 and not (alpha == 1 and beta in (0, 1)):
        x, one, other = (each.astype(np.float32) for each in (x, one, other))
        return _sum_of(multiply, x, one, other, beta, alpha).astype(dtype)
    product = multiply(one, other)
    product = product.astype(dtype) if alpha == 1 else product * as_operand(alpha, dtype)
    if beta == 0:
        return np.broadcast_to(product, np.broadcast_shapes(x.shape, product.shape))
    return product + (x.astype(dtype) if beta == 1 else x * as_operand(beta, dtype))


@rule("einsum.default")
def _einsum(equation: str, operands: Any, path: Any = None) -> Any:
    return np.einsum(equation, *operands)


@rule("_trilinear.default")
def _trilinear(
    one: Any, two: Any, three: Any, expand1: Any, expand2: Any, expand3: Any, sumdim: Any, unroll_dim: int = 1
) -> Any:
    wide = [
        np.expand_dims(each, tuple(places)) if len(places) else each
        for each, places in ((one, expand1), (two, expand2), (three, expand3))
    ]
    return np.sum(wide[0] * wide[1] * wide[2], axis=tuple(sumdim))


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


def _grouped_backward(x: Any, matrices: Any, ends: Any, gradient: Any) -> Any:
    by_x = _of_rows(gradient, np.swapaxes(matrices, 1, 2), ends)
    return by_x, _of_parts(np.swapaxes(x, 0, 1), gradient, ends)


OF_LIBRARIES = {
    "transformers.grouped_mm_fallback.default": rule()(_of_rows),
    "transformers.grouped_mm_fallback_backward.default": rule()(_grouped_backward),
}
"""By name, ops that are there when a library has defined them, and whose definitions ask for values."""
