"""Products of matrices, whose sums are made in float32 for floats of 16 bits."""

from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import as_operand, common_dtype, rule


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
    return _sum_of(x, np.matmul(one, other), beta, alpha)


@rule("addbmm.default")
def _added_batches(x: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum_of(x, np.einsum("bij,bjk->ik", one, other), beta, alpha)


@rule("addr.default")
def _added_outer(x: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum_of(x, one[:, None] * other[None, :], beta, alpha)


def _sum_of(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta`` times ``x``, of which nothing counts if that is 0, plus ``alpha`` times ``product``."""
    dtype = common_dtype([x, product])
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
