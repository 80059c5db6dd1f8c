"""Ops that make tensors of numbers, and those that copy or convert them."""

from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import Made, constant, rule
from ipu_mlir.tracing.control.gradients import stop_gradient
from ipu_mlir.tracing.functions.bits import bits_of, from_bits
from ipu_mlir.tracing.graph import Symbol


def _everywhere(number: Any, made: Made) -> Any:
    if isinstance(number, Symbol):
        return np.broadcast_to(number.astype(made.dtype), made.shape)
    return constant(np.full(made.shape, number, made.dtype))


@rule("full.default")
def _full(size: Any, number: Any, made: Made, **_: Any) -> Any:
    return _everywhere(number, made)


@rule("full_like.default")
def _full_like(x: Any, number: Any, made: Made, **_: Any) -> Any:
    return _everywhere(number, made)


@rule("new_full.default")
def _new_full(x: Any, size: Any, number: Any, made: Made, **_: Any) -> Any:
    return _everywhere(number, made)


@rule("fill.Scalar", "fill.Tensor")
def _fill(x: Any, number: Any, made: Made) -> Any:
    return _everywhere(number, made)


@rule("scalar_tensor.default", "prims.scalar_tensor.default")
def _scalar_tensor(number: Any, made: Made, **_: Any) -> Any:
    return _everywhere(number, made)


@rule(
    "zeros.default", "zeros_like.default", "new_zeros.default", "empty.memory_format", "empty_like.default",
    "new_empty.default", "empty_permuted.default", "empty_strided.default", "new_empty_strided.default",
    "prims.empty_strided.default", "prims.empty_permuted.default", "_efficientzerotensor.default",
)  # fmt: skip
def _zeros(*_: Any, made: Made, **__: Any) -> Any:
    """Zeros also where values are left open."""
    return _everywhere(0, made)


@rule("ones.default", "ones_like.default", "new_ones.default")
def _ones(*_: Any, made: Made, **__: Any) -> Any:
    return _everywhere(1, made)


@rule("arange.start_step")
def _arange(start: Any, end: Any, step: Any = 1, *, made: Made, **_: Any) -> Any:
    return constant((start + step * np.arange(made.shape[0])).astype(made.dtype))


@rule("arange.start")
def _arange_from(start: Any, end: Any, *, made: Made, **_: Any) -> Any:
    return _arange(start, end, 1, made=made)


@rule("arange.default")
def _arange_to(end: Any, *, made: Made, **_: Any) -> Any:
    return _arange(0, end, 1, made=made)


@rule("prims.iota.default")
def _iota(length: int, *, start: int, step: int, made: Made, **_: Any) -> Any:
    return _arange(start, None, step, made=made)


@rule("eye.default", "eye.m")
def _eye(rows: int, columns: int | None = None, *, made: Made, **_: Any) -> Any:
    return constant(np.eye(*made.shape, dtype=made.dtype))


@rule("_to_copy.default", "to.dtype", "to.dtype_layout", "prims.convert_element_type.default")
def converted(x: Any, *_: Any, made: Made, **__: Any) -> Any:
    """Of floats that do not fit into a narrow integer, the low bits remain."""
    if not isinstance(x, Symbol):
        return _everywhere(x, made)
    if made.dtype.kind in "iu" and made.dtype.itemsize < 4 and x.dtype.kind not in "biu":
        x = x.astype(np.int32)
    return x.astype(made.dtype)


@rule("view.dtype")
def _bits(x: Any, dtype: Any, made: Made) -> Any:
    kinds = x.dtype.kind + made.dtype.kind
    if x.dtype.itemsize != made.dtype.itemsize or "b" in kinds or "c" in kinds:
        raise NotImplementedError(f"bits of {x.dtype} as {made.dtype}: only those of numbers of the same size are")
    if x.dtype.kind not in "iu":
        x = bits_of(x)
    return x.astype(made.dtype) if made.dtype.kind in "iu" else from_bits(x, made.dtype)


@rule(
    "clone.default", "alias.default", "alias_copy.default",
    "lift_fresh_copy.default", "contiguous.default", "prims.clone.default", "prims.view_of.default",
    "lift_fresh.default", "lift.default", "resolve_conj.default", "resolve_neg.default", "prims.device_put.default",
)  # fmt: skip
def _same(x: Any, *_: Any, **__: Any) -> Any:
    return x


@rule("detach.default", "detach_copy.default")
def _constant(x: Any) -> Any:
    return stop_gradient(x) if isinstance(x, Symbol) else x


@rule("_neg_view.default")
def _negative(x: Any) -> Any:
    return -x


@rule("copy.default")
def _copied(x: Any, source: Any, *_: Any, made: Made) -> Any:
    return np.broadcast_to(source.astype(made.dtype), made.shape)
