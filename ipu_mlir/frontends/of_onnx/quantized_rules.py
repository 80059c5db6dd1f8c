"""Ops of ONNX on quantized numbers: integers that stand for floats by a scale and a zero point."""

from collections.abc import Callable
from typing import Any

import numpy as np
from ml_dtypes import iinfo
from onnx.helper import tensor_dtype_to_np_dtype

from ipu_mlir.frontends.of_onnx.narrow import holder, is_narrow, narrowed
from ipu_mlir.frontends.of_onnx.recurrent_rules import lstm
from ipu_mlir.frontends.of_onnx.rules import rule
from ipu_mlir.frontends.support.activations import sigmoid, softmax


def _over(x: Any, scale: Any, axis: int, block_size: int | None) -> Any:
    """Scales or zero points of rows or blocks along ``axis``, one for each element of ``x``."""
    if scale.ndim == 0 or (scale.ndim == 1 and scale.shape[0] == 1):
        return np.reshape(scale, ())
    if not block_size:
        return np.reshape(scale, [-1 if each == axis % x.ndim else 1 for each in range(x.ndim)])
    wide = np.repeat(scale, block_size, axis=axis)
    return wide[(*[slice(None)] * (axis % x.ndim), slice(0, x.shape[axis]))]


@rule("DequantizeLinear")
def _dequantize(
    x: Any, scale: Any, zero: Any = None, *, axis: int = 1, block_size: int | None = 0, output_dtype: Any = None,
    **_: Any,
) -> Any:  # fmt: skip
    dtype = scale.dtype
    scale = _over(x, scale, axis, block_size).astype(np.float32)
    wide = x.astype(np.int32 if x.dtype.kind in "iu" else np.float32)
    if zero is not None and x.dtype.kind in "iu":
        wide = wide - _over(x, zero, axis, block_size).astype(np.int32)
    return (wide.astype(np.float32) * scale).astype(dtype)


@rule("QuantizeLinear")
def _quantize(
    x: Any, scale: Any, zero: Any = None, *, types: Any, axis: int = 1, block_size: int | None = 0,
    output_dtype: Any = None, **_: Any,
) -> Any:  # fmt: skip
    said = np.dtype(tensor_dtype_to_np_dtype(output_dtype)) if output_dtype else np.dtype(np.uint8)
    dtype = said if zero is None else types[2] or zero.dtype
    found = x.astype(np.float32) / _over(x, scale, axis, block_size).astype(np.float32)
    if dtype.name.startswith("float4"):
        return narrowed(found, dtype)
    if dtype.kind not in "iu" and not is_narrow(dtype):
        return NotImplemented
    limits = iinfo(dtype)
    found = np.rint(found)
    if zero is not None:
        found = found + _over(x, zero, axis, block_size).astype(np.float32)
    return np.clip(found, float(limits.min), float(limits.max)).astype(np.int32).astype(holder(dtype))


@rule("DynamicQuantizeLinear")
def _dynamic_quantize(x: Any, **_: Any) -> Any:
    high, low = np.maximum(np.max(x), 0.0), np.minimum(np.min(x), 0.0)
    scale = (np.where(high == low, 1.0, high - low) / 255.0).astype(np.float32)
    zero = np.clip(np.rint(-low / scale), 0.0, 255.0)
    found = np.clip(np.rint(x / scale) + zero, 0.0, 255.0)
    return found.astype(np.int32).astype(np.uint8), scale, zero.astype(np.int32).astype(np.uint8)


_OF_RUNTIME = "com.microsoft"
"""The domain of ops that onnxruntime's quantizer writes, and ONNX does not define."""


def _real(x: Any, scale: Any, zero: Any) -> Any:
    """The floats that ``x`` stands for, with one scale, or one for each of the last dimension."""
    wide = x.astype(np.int32)
    return (wide if zero is None else wide - zero.astype(np.int32)).astype(np.float32) * scale


def _stored(x: Any, scale: Any, zero: Any) -> Any:
    """Floats as integers of the type of ``zero``."""
    limits = iinfo(zero.dtype)
    found = np.rint(x / scale) + zero.astype(np.float32)
    return np.clip(found, float(limits.min), float(limits.max)).astype(np.int32).astype(zero.dtype)


def _of_two(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def apply(x: Any, x_scale: Any, x_zero: Any, y: Any, y_scale: Any, y_zero: Any, *made: Any, **_: Any) -> Any:
        return _stored(function(_real(x, x_scale, x_zero), _real(y, y_scale, y_zero)), *made)

    return apply


def _of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(x: Any, scale: Any, zero: Any, *made: Any, **settings: Any) -> Any:
        return _stored(function(_real(x, scale, zero), **settings), *made)

    return apply


def _mean_of_image(x: Any, *, channels_last: int | None = 0, **_: Any) -> Any:
    axes = tuple(range(1, x.ndim - 1) if channels_last else range(2, x.ndim))
    return np.mean(x, axis=axes, keepdims=True)


_BY_FLOATS = tuple(
    rule(name, domain=_OF_RUNTIME, always=True)(function)
    for name, function in (
        ("QLinearAdd", _of_two(lambda x, y: x + y)),
        ("QLinearMul", _of_two(lambda x, y: x * y)),
        ("QLinearSigmoid", _of_one(lambda x, **_: sigmoid(x))),
        ("QLinearLeakyRelu", _of_one(lambda x, *, alpha=0.01, **_: np.where(x < 0, x * np.float32(alpha), x))),
        ("QLinearGlobalAveragePool", _of_one(_mean_of_image)),
        ("QLinearSoftmax", _of_one(lambda x, *, axis=-1, **_: softmax(x, -1 if axis is None else axis))),
    )
)
_AS_ONNX = (
    rule("DequantizeLinear", domain=_OF_RUNTIME, always=True)(_dequantize),
    rule("QuantizeLinear", domain=_OF_RUNTIME, always=True)(_quantize),
)


@rule("QLinearConcat", domain=_OF_RUNTIME, always=True)
def _concatenate(scale: Any, zero: Any, *parts: Any, axis: int, **_: Any) -> Any:
    real = [_real(*parts[first : first + 3]) for first in range(0, len(parts), 3)]
    return _stored(np.concatenate(real, axis=axis), scale, zero)


@rule("QGemm", domain=_OF_RUNTIME, always=True)
def _product(
    x: Any, x_scale: Any, x_zero: Any, y: Any, y_scale: Any, y_zero: Any, more: Any = None, *made: Any,
    alpha: float | None = 1.0, transA: int | None = 0, transB: int | None = 0, **_: Any,
) -> Any:  # fmt: skip
    """With sums of integers, to which a term of int32 is added."""
    x, y = (each.astype(np.int32) - zero.astype(np.int32) for each, zero in ((x, x_zero), (y, _rows(y_zero, transB))))
    total = np.matmul(x.T if transA else x, y.T if transB else y)
    total = total if more is None else total + more
    found = total.astype(np.float32) * (x_scale * y_scale * np.float32(alpha or 1.0))
    return _stored(found, *made) if made and made[0] is not None else found


def _rows(zero: Any, turned: int | None) -> Any:
    """A zero point, or one for each column, along what is multiplied."""
    return np.reshape(zero, (-1, 1)) if turned and zero.ndim and zero.size > 1 else zero


@rule("MatMulIntegerToFloat", domain=_OF_RUNTIME, always=True)
def _product_to_floats(
    x: Any, y: Any, x_scale: Any, y_scale: Any, x_zero: Any = None, y_zero: Any = None, bias: Any = None, **_: Any
) -> Any:
    x, y = (
        each.astype(np.int32) if zero is None else each.astype(np.int32) - zero.astype(np.int32)
        for each, zero in ((x, x_zero), (y, y_zero))
    )
    found = np.matmul(x, y).astype(np.float32) * (x_scale * y_scale)
    return found if bias is None else found + bias


@rule("DynamicQuantizeMatMul", domain=_OF_RUNTIME, always=True)
def _product_of_floats(x: Any, y: Any, y_scale: Any, y_zero: Any = None, bias: Any = None, **_: Any) -> Any:
    stored, scale, zero = _dynamic_quantize(x)
    return _product_to_floats(stored, y, scale, y_scale, zero, y_zero, bias)


@rule("DynamicQuantizeLSTM", domain=_OF_RUNTIME, always=True)
def _recurrent(
    x: Any, w: Any, r: Any, b: Any, lengths: Any, h: Any, c: Any, peepholes: Any, w_scale: Any, w_zero: Any,
    r_scale: Any, r_zero: Any, **options: Any,
) -> Any:  # fmt: skip
    """With weights of 8 bits, one matrix for each direction; what they are multiplied with keeps its bits."""

    def weights(stored: Any, scale: Any, zero: Any) -> Any:
        own = (np.reshape(each, (stored.shape[0], 1, -1)) for each in (scale, zero))
        return np.swapaxes(_real(stored, *own), 1, 2)

    return lstm(x, weights(w, w_scale, w_zero), weights(r, r_scale, r_zero), b, lengths, h, c, peepholes, **options)
