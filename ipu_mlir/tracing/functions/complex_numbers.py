"""NumPy's functions of complex elements, on their real and imaginary parts.

Each takes the parts of its operands, ``(real, imaginary)``, and gives those of the result, or one real tensor. Infinite
parts are not told apart as C does; the branch cuts are those of C.

Source: W. Kahan, Branch Cuts for Complex Elementary Functions (1987), for roots and inverse functions.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ipu_mlir.specs.tensor_types import part_dtype
from ipu_mlir.tracing.elementwise import astype, where
from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.operands import common_dtype, operand, tensor, trace_of
from ipu_mlir.tracing.pairs import complex_of, is_complex, part

Parts = tuple[Any, Any]


def apply_complex_ufunc(name: str, ufunc: np.ufunc, values: Sequence[Any]) -> Any:
    """``ufunc(*values)``, some of which are complex.

    Raises:
        TraceTypeError: the function is not supported for complex numbers.
    """
    function = _FUNCTIONS.get(ufunc)
    if function is None:
        known = ", ".join(sorted({each.__name__ for each in _FUNCTIONS}))
        raise TraceTypeError(f"{name} is not supported for complex numbers; use x.real and x.imag; there are {known}")
    trace = trace_of(values)
    operands = [operand(trace, value) for value in values]
    whole = common_dtype(operands)
    found: Any = function(*(parts_of(tensor(trace, each, whole), whole) for each in operands))
    if not isinstance(found, tuple):
        return found
    real, imaginary = cast(Any, np.broadcast_arrays(*found))
    return complex_of(real, imaginary)


def parts_of(value: Any, whole: np.dtype[Any]) -> Parts:
    """The parts of a tensor as those of complex type ``whole``."""
    to = part_dtype(whole)
    if is_complex(value):
        return astype(part(value, 0), to), astype(part(value, 1), to)
    return astype(value, to), np.zeros_like(value, to)


def multiply(x: Parts, y: Parts) -> Parts:
    (a, b), (c, d) = x, y
    return a * c - b * d, a * d + b * c


def divide(x: Parts, y: Parts) -> Parts:
    """Scaled by the larger part of the divisor, so that squares do not overflow."""
    (a, b), (c, d) = x, y
    real_is_larger = np.abs(c) >= np.abs(d)
    large, small = where(real_is_larger, c, d), where(real_is_larger, d, c)
    ratio = where(large == 0, 0.0, small / large)
    scale = large + small * ratio
    real = where(real_is_larger, a + b * ratio, a * ratio + b)
    imaginary = where(real_is_larger, b - a * ratio, b * ratio - a)
    return real / scale, imaginary / scale


def sqrt(x: Parts) -> Parts:
    a, b = x
    half = np.sqrt((np.hypot(a, b) + np.abs(a)) * 0.5)
    other = where(half == 0, 0.0, np.abs(b) / where(half == 0, 1.0, half * 2.0))
    return where(np.signbit(a), other, half), np.copysign(where(np.signbit(a), half, other), b)


def exp(x: Parts) -> Parts:
    length = np.exp(x[0])
    return length * np.cos(x[1]), length * np.sin(x[1])


def expm1(x: Parts) -> Parts:
    a, b = x
    half = np.sin(b * 0.5)
    return np.expm1(a) * np.cos(b) - 2.0 * half * half, np.exp(a) * np.sin(b)


def log(x: Parts) -> Parts:
    return np.log(np.hypot(*x)), np.arctan2(x[1], x[0])


def log1p(x: Parts) -> Parts:
    a, b = x
    near = 0.5 * np.log1p(a * (a + 2.0) + b * b)
    return where(np.hypot(a, b) < 0.5, near, np.log(np.hypot(a + 1.0, b))), np.arctan2(b, a + 1.0)


def _scaled_log(factor: float) -> Callable[[Parts], Parts]:
    def function(x: Parts) -> Parts:
        real, imaginary = log(x)
        return real * factor, imaginary * factor

    return function


def power(x: Parts, y: Parts) -> Parts:
    real, imaginary = exp(multiply(y, log(x)))
    none = (x[0] == 0) & (x[1] == 0)
    one = (y[0] == 0) & (y[1] == 0)
    return where(one, 1.0, where(none, 0.0, real)), where(none | one, 0.0, imaginary)


def sin(x: Parts) -> Parts:
    return np.sin(x[0]) * np.cosh(x[1]), np.cos(x[0]) * np.sinh(x[1])


def cos(x: Parts) -> Parts:
    return np.cos(x[0]) * np.cosh(x[1]), -np.sin(x[0]) * np.sinh(x[1])


def sinh(x: Parts) -> Parts:
    return np.sinh(x[0]) * np.cos(x[1]), np.cosh(x[0]) * np.sin(x[1])


def cosh(x: Parts) -> Parts:
    return np.cosh(x[0]) * np.cos(x[1]), np.sinh(x[0]) * np.sin(x[1])


def tanh(x: Parts) -> Parts:
    """Beyond 20, where cosh would overflow, nothing of it is left but the sign."""
    a, b = np.clip(x[0], -20.0, 20.0), x[1]
    scale = np.square(np.sinh(a)) + np.square(np.cos(b))
    return np.sinh(a) * np.cosh(a) / scale, np.sin(b) * np.cos(b) / scale


def arcsin(x: Parts) -> Parts:
    a, b = x
    minus, plus = sqrt((1.0 - a, -b)), sqrt((1.0 + a, b))
    real = np.arctan2(a, minus[0] * plus[0] - minus[1] * plus[1])
    return real, np.arcsinh(minus[0] * plus[1] - minus[1] * plus[0])


def arccos(x: Parts) -> Parts:
    a, b = x
    minus, plus = sqrt((1.0 - a, -b)), sqrt((1.0 + a, b))
    return 2.0 * np.arctan2(minus[0], plus[0]), np.arcsinh(plus[0] * minus[1] - plus[1] * minus[0])


def arccosh(x: Parts) -> Parts:
    a, b = x
    minus, plus = sqrt((a - 1.0, b)), sqrt((a + 1.0, b))
    return np.arcsinh(minus[0] * plus[0] + minus[1] * plus[1]), 2.0 * np.arctan2(minus[1], plus[0])


def arctanh(x: Parts) -> Parts:
    a, b = x
    real = 0.25 * np.log1p(4.0 * a / (np.square(1.0 - a) + b * b))
    return real, 0.5 * np.arctan2(2.0 * b, (1.0 - a) * (1.0 + a) - b * b)


def _turned(function: Callable[[Parts], Parts]) -> Callable[[Parts], Parts]:
    """``-i f(i x)``: the circular functions of the hyperbolic ones, and the other way round."""

    def turned(x: Parts) -> Parts:
        real, imaginary = function((-x[1], x[0]))
        return imaginary, -real

    return turned


def sign(x: Parts) -> Parts:
    length = np.hypot(*x)
    scale = where(length == 0, 1.0, length)
    return x[0] / scale, x[1] / scale


def less(x: Parts, y: Parts) -> Any:
    """By real parts, equal ones by imaginary parts."""
    (a, b), (c, d) = x, y
    return ((a < c) & ~(np.isnan(b) | np.isnan(d))) | ((a == c) & (b < d))


def less_equal(x: Parts, y: Parts) -> Any:
    (a, b), (c, d) = x, y
    return ((a < c) & ~(np.isnan(b) | np.isnan(d))) | ((a == c) & (b <= d))


def _either(takes_first: Callable[[Parts, Parts], Any]) -> Callable[[Parts, Parts], Parts]:
    """``x`` where ``takes_first`` is true, ``y`` elsewhere."""

    def chosen(x: Parts, y: Parts) -> Parts:
        is_first = takes_first(x, y)
        return where(is_first, x[0], y[0]), where(is_first, x[1], y[1])

    return chosen


def _is_nan(x: Parts) -> Any:
    return np.isnan(x[0]) | np.isnan(x[1])


def _is_one(x: Parts) -> Any:
    return (x[0] != 0) | (x[1] != 0)


_FUNCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: lambda x, y: (x[0] + y[0], x[1] + y[1]),
    np.subtract: lambda x, y: (x[0] - y[0], x[1] - y[1]),
    np.multiply: multiply,
    np.divide: divide,
    np.power: power,
    np.negative: lambda x: (-x[0], -x[1]),
    np.positive: lambda x: x,
    np.conjugate: lambda x: (x[0], -x[1]),
    np.absolute: lambda x: np.hypot(*x),
    np.sign: sign,
    np.square: lambda x: multiply(x, x),
    np.reciprocal: lambda x: divide((np.ones_like(x[0]), np.zeros_like(x[0])), x),
    np.sqrt: sqrt,
    np.exp: exp,
    np.exp2: lambda x: exp((x[0] * math.log(2.0), x[1] * math.log(2.0))),
    np.expm1: expm1,
    np.log: log,
    np.log2: _scaled_log(1 / math.log(2.0)),
    np.log10: _scaled_log(1 / math.log(10.0)),
    np.log1p: log1p,
    np.sin: sin,
    np.cos: cos,
    np.tan: _turned(tanh),
    np.sinh: sinh,
    np.cosh: cosh,
    np.tanh: tanh,
    np.arcsin: arcsin,
    np.arccos: arccos,
    np.arctan: _turned(arctanh),
    np.arcsinh: _turned(arcsin),
    np.arccosh: arccosh,
    np.arctanh: arctanh,
    np.equal: lambda x, y: (x[0] == y[0]) & (x[1] == y[1]),
    np.not_equal: lambda x, y: (x[0] != y[0]) | (x[1] != y[1]),
    np.less: less,
    np.less_equal: less_equal,
    np.greater: lambda x, y: less(y, x),
    np.greater_equal: lambda x, y: less_equal(y, x),
    np.maximum: _either(lambda x, y: _is_nan(x) | less_equal(y, x)),
    np.minimum: _either(lambda x, y: _is_nan(x) | less_equal(x, y)),
    np.fmax: _either(lambda x, y: _is_nan(y) | less_equal(y, x)),
    np.fmin: _either(lambda x, y: _is_nan(y) | less_equal(x, y)),
    np.isnan: _is_nan,
    np.isinf: lambda x: np.isinf(x[0]) | np.isinf(x[1]),
    np.isfinite: lambda x: np.isfinite(x[0]) & np.isfinite(x[1]),
    np.rint: lambda x: (np.rint(x[0]), np.rint(x[1])),
    np.logical_not: lambda x: ~_is_one(x),
    np.logical_and: lambda x, y: _is_one(x) & _is_one(y),
    np.logical_or: lambda x, y: _is_one(x) | _is_one(y),
    np.logical_xor: lambda x, y: _is_one(x) ^ _is_one(y),
}
