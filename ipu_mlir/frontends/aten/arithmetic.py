"""Ops on elements: arithmetic, comparisons, elementary functions, and those of neural networks."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import as_operand, common_dtype, elementwise, in_one_type, rule, wide
from ipu_mlir.frontends.support.activations import gelu, sigmoid
from ipu_mlir.tracing.elementwise import apply_unary_float
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.pairs import complex_of, from_pairs

_SAME: dict[str, Callable[..., Any]] = {
    "abs.default prims.abs.default": np.abs,
    "neg.default prims.neg.default": np.negative,
    "positive.default": np.positive,
    "sign.default prims.sign.default": lambda x: x if x.dtype.kind == "b" else np.sign(x),
    "ceil.default prims.ceil.default": lambda x: x if x.dtype.kind in "biu" else np.ceil(x),
    "floor.default prims.floor.default": lambda x: x if x.dtype.kind in "biu" else np.floor(x),
    "trunc.default prims.trunc.default": lambda x: x if x.dtype.kind in "biu" else np.trunc(x),
    "round.default prims.round.default": lambda x: x if x.dtype.kind in "biu" else np.rint(x),
    "square.default": np.square,
    "bitwise_not.default prims.bitwise_not.default": np.invert,
    "maximum.default prims.maximum.default": np.maximum,
    "minimum.default prims.minimum.default": np.minimum,
    "fmax.default prims.fmax.default": np.fmax,
    "fmin.default prims.fmin.default": np.fmin,
    "fmod prims.fmod.default": np.fmod,
    "remainder prims.remainder.default": np.remainder,
    "bitwise_and prims.bitwise_and.default": np.bitwise_and,
    "bitwise_or prims.bitwise_or.default": np.bitwise_or,
    "bitwise_xor prims.bitwise_xor.default": np.bitwise_xor,
    "prims.add.default": np.add,
    "prims.sub.default": np.subtract,
    "mul prims.mul.default": np.multiply,
    "nextafter.default prims.nextafter.default": np.nextafter,
    "hypot.default prims.hypot.default": np.hypot,
    "gcd.default prims.gcd.default": np.gcd,
    "logical_not.default": np.logical_not,
    "logical_and.default": np.logical_and,
    "logical_or.default": np.logical_or,
    "logical_xor.default": np.logical_xor,
    "eq prims.eq.default": np.equal,
    "ne prims.ne.default": np.not_equal,
    "lt prims.lt.default": np.less,
    "le prims.le.default": np.less_equal,
    "gt prims.gt.default": np.greater,
    "ge prims.ge.default": np.greater_equal,
    "signbit.default prims.signbit.default": lambda x: np.signbit(x) if _is_float(x) else x < np.zeros_like(x),
    "isnan.default": np.isnan,
    "isinf.default": np.isinf,
    "isfinite.default prims.isfinite.default": np.isfinite,
    "_conj.default conj.default prims.conj.default _conj_physical.default conj_physical.default": np.conjugate,
    "prims.real.default real.default": np.real,
    "prims.imag.default imag.default": np.imag,
    "relu.default": lambda x: np.maximum(x, 0),
}
_FLOAT: dict[str, Callable[..., Any]] = {
    **{
        f"{name}.default prims.{name}.default": getattr(np, name)
        for name in (
            *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log"),
            *("log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh"),
        )
    },
    "rsqrt.default prims.rsqrt.default": lambda x: 1.0 / np.sqrt(x),
    "prims.cbrt.default": np.cbrt,
    "erf.default special_erf.default prims.erf.default": lambda x: apply_unary_float("erf", x),
    "erfc.default special_erfc.default prims.erfc.default": lambda x: apply_unary_float("erfc", x),
    "sigmoid.default": sigmoid,
    "silu.default": lambda x: x * sigmoid(x),
    "silu_backward.default": lambda gradient, x: gradient * sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x))),
    "angle.default": lambda x: _angle(x),
    "atan2.default prims.atan2.default": np.arctan2,
    "logaddexp.default": np.logaddexp,
}  # fmt: skip
_ON_ELEMENTS = (
    *(elementwise(*names.split())(function) for names, function in _SAME.items()),
    *(elementwise(*names.split(), kind="float")(function) for names, function in _FLOAT.items()),
)


def _is_float(x: Any) -> bool:
    return x.dtype.kind not in "biuc"


def _angle(x: Any) -> Any:
    return np.angle(x) if x.dtype.kind == "c" else np.where(np.isnan(x), x, np.where(x < 0, math.pi, 0.0))


@elementwise("add", count=2)
def _add(x: Any, other: Any, alpha: Any = 1) -> Any:
    return x + other if alpha == 1 else x + other * alpha


@elementwise("sub", count=2)
def _sub(x: Any, other: Any, alpha: Any = 1) -> Any:
    return x - other if alpha == 1 else x - other * alpha


@rule("div")
def _div(x: Any, other: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return _floored(x, other)
    if rounding_mode == "trunc":
        return truncated(x, other)
    return _divided(x, other)


@in_one_type("float")
def _divided(x: Any, other: Any) -> Any:
    return x / other


@in_one_type()
def _floored(x: Any, other: Any) -> Any:
    return np.floor_divide(x, other)


@in_one_type()
def truncated(x: Any, other: Any) -> Any:
    if common_dtype([x]).kind not in "biu":
        return np.trunc(x / other)
    down = np.floor_divide(x, other)
    is_short = (np.remainder(x, other) != 0) & ((x < 0) != (other < 0))
    return np.where(is_short, down + 1, down)


@elementwise("prims.div.default")
def _prim_div(x: Any, other: Any) -> Any:
    return truncated(x, other) if common_dtype([x, other]).kind in "biu" else x / other


@elementwise("pow", "prims.pow.default")
def _pow(x: Any, power: Any) -> Any:
    if isinstance(x, Symbol) and x.dtype.kind in "iu" and isinstance(power, int) and power < 0:
        return np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (power % 2), 0))
    if isinstance(power, float) and power.is_integer() and 3 < power <= 16:
        return _whole_power(x, int(power))
    return x**power


def _whole_power(x: Any, power: int) -> Any:
    """By squares, which is quicker and more exact than by logarithms."""
    found = None
    while power:
        if power & 1:
            found = x if found is None else found * x
        power >>= 1
        x = x * x if power else x
    return found


@elementwise("copysign", kind="float")
def _copysign(x: Any, other: Any) -> Any:
    return np.copysign(x, other)


@elementwise("clamp", "clip")
def _clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    raised = x if low is None else np.maximum(x, low)
    return raised if high is None else np.minimum(raised, high)


@rule("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar", "prims.where.default")
def _where(condition: Any, x: Any, other: Any) -> Any:
    dtype = common_dtype([x, other])
    return np.where(condition.astype(np.bool_), as_operand(x, dtype), as_operand(other, dtype))


@elementwise("bitwise_left_shift", "__lshift__", "prims.shift_left.default")
def _left_shift(x: Any, other: Any) -> Any:
    return np.left_shift(x, other)


@elementwise("bitwise_right_shift", "__rshift__", "prims.shift_right_arithmetic.default")
def _right_shift(x: Any, other: Any) -> Any:
    return np.right_shift(x, other)


@elementwise("gelu", count=1)
def _gelu(x: Any, approximate: str = "none") -> Any:
    return gelu(wide(x), approximate == "tanh")


@rule("view_as_real.default")
def _parts(x: Any) -> Any:
    return np.stack([np.real(x), np.imag(x)], -1)


@rule("view_as_complex.default")
def _whole(x: Any) -> Any:
    return from_pairs(x)


@rule("polar.default")
def _polar(size: Any, angle: Any) -> Any:
    parts: Any = np.broadcast_arrays(size * np.cos(angle), size * np.sin(angle))
    return complex_of(*parts)


@rule("complex.default")
def _complex(real: Any, imaginary: Any) -> Any:
    parts: Any = np.broadcast_arrays(real, imaginary)
    return complex_of(*parts)


@rule("frexp.Tensor", "prims.frexp.default")
def _frexp(x: Any) -> Any:
    return np.frexp(x)


@rule("fake_quantize_per_tensor_affine_cachemask.default")
def _as_quantized(x: Any, scale: Any, zero: Any, low: int, high: int) -> tuple[Any, Any]:
    """The nearest number that an integer between ``low`` and ``high`` stands for, and where there is one."""
    number = np.rint(x * (1.0 / scale)) + zero
    return (np.clip(number, low, high) - zero) * scale, (number >= low) & (number <= high)


@rule("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default")
def _as_quantized_if(x: Any, scale: Any, zero: Any, is_on: Any, low: int, high: int) -> tuple[Any, Any]:
    found, is_there = _as_quantized(x, scale, zero.astype(x.dtype), low, high)
    return np.where(is_on == 0, x, found), is_there | (is_on == 0)


@rule("fake_quantize_per_channel_affine_cachemask.default")
def _channels_as_quantized(x: Any, scale: Any, zero: Any, axis: int, low: int, high: int) -> tuple[Any, Any]:
    over = [-1 if each == axis % len(x.shape) else 1 for each in range(len(x.shape))]
    return _as_quantized(x, np.reshape(scale, over), np.reshape(zero.astype(x.dtype), over), low, high)


@elementwise("hardshrink_backward.default", "softshrink_backward.default")
def _shrunk_backward(gradient: Any, x: Any, most: Any) -> Any:
    return np.where(np.abs(x) <= most, 0.0, gradient)
