"""The bits of numbers: mantissa and exponent, and bytes of bits."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import upstream
from ipu_mlir.specs.tensor_types import element_type, finfo
from ipu_mlir.tracing import views
from ipu_mlir.tracing.elementwise import apply_unary_float, as_ufunc_float, astype, elementwise, where
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import supported_dtype
from ipu_mlir.tracing.operands import tensor, trace_of

arith = upstream("arith")


def frexp(x: Any) -> tuple[Any, Any]:
    """A mantissa from 0.5 to 1 and the power of two that it is multiplied by."""
    x = as_ufunc_float(x)
    limits = finfo(x.dtype)
    bits, mantissa, most = limits.bits, limits.nmant, int(limits.maxexp)
    integer = supported_dtype(f"i{bits // 8}")
    lift = mantissa + 2
    low = np.abs(x) < limits.smallest_normal
    normal = where(low, x * 2.0**lift, x)
    whole = np.isfinite(x) & (x != 0)
    stored = (bits_of(normal) >> mantissa) & (2 * most - 1)
    exponent = where(whole, stored - (most - 2) - where(low, lift, 0), 0)
    kept = bits_of(normal) & ~np.array((2 * most - 1) << mantissa).astype(integer)[()]
    fraction = from_bits(kept | np.array((most - 2) << mantissa).astype(integer)[()], x.dtype)
    return where(whole, fraction, x), astype(exponent, np.int32)


def ldexp(x: Any, n: Any) -> Any:
    """``x * 2**n``, in steps none of which overflows before the last."""
    trace = trace_of((x, n))
    x, n = as_ufunc_float(tensor(trace, x)), tensor(trace, n)
    limits = finfo(x.dtype)
    integer = supported_dtype(f"i{limits.bits // 8}")
    most = int(limits.maxexp)
    left = np.clip(n, -4 * most + 8, 4 * most - 8) if n.dtype.itemsize > 1 else astype(n, np.int32)
    left = astype(left, np.int32 if integer.itemsize < 4 else integer)
    for parts in (4, 3, 2, 1):
        step = left // parts
        x = x * from_bits(astype(step + (most - 1), integer) << limits.nmant, x.dtype)
        left = left - step
    return x


def modf(x: Any) -> tuple[Any, Any]:
    x = as_ufunc_float(x)
    return apply_unary_float("fraction", x), np.trunc(x)


def bits_of(x: Any) -> Any:
    """The bits of floats as signed integers."""
    to = np.dtype(f"i{x.dtype.itemsize}")
    return elementwise(x.program, "bits", [x], [x.dtype], to, lambda each: arith.bitcast(element_type(to), each))


def from_bits(x: Any, dtype: np.dtype[Any]) -> Any:
    """Floats of integers that hold their bits."""
    return elementwise(x.program, "from bits", [x], [x.dtype], dtype, lambda e: arith.bitcast(element_type(dtype), e))


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    if axis is None:
        a, axis = views.reshape(a, (-1,)), 0
    along = views.axis_of("packbits", a, axis)
    bits: Any = np.moveaxis(astype(astype(a, np.bool_), np.uint8), along, -1)
    missing = -bits.shape[-1] % 8
    bits = np.pad(bits, [(0, 0)] * (len(bits.shape) - 1) + [(0, missing)])
    bytes_ = views.reshape(bits, (*bits.shape[:-1], bits.shape[-1] // 8, 8))
    return np.moveaxis(np.sum(bytes_ << _bit_places(bitorder), axis=-1, dtype=np.uint8), -1, along)


def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    if a.dtype != np.uint8:
        raise TraceTypeError(f"unpackbits of {a}: give bytes, with astype(np.uint8)")
    if axis is None:
        a, axis = views.reshape(a, (-1,)), 0
    along = views.axis_of("unpackbits", a, axis)
    last = np.moveaxis(a, along, -1)
    bits = (last[..., None] >> _bit_places(bitorder)) & np.uint8(1)
    bits = views.reshape(bits, (*last.shape[:-1], 8 * last.shape[-1]))
    if count is not None:
        bits = (
            bits[..., :count]
            if count < 0
            else np.pad(bits, [(0, 0)] * (len(bits.shape) - 1) + [(0, max(0, count - bits.shape[-1]))])[..., :count]
        )
    return np.moveaxis(bits, -1, along)


def _bit_places(bitorder: str) -> np.ndarray:
    if bitorder not in ("big", "little"):
        raise TraceValueError(f"bitorder is 'big' or 'little', got {bitorder!r}")
    return np.arange(8, dtype=np.uint8)[:: -1 if bitorder == "big" else 1]
