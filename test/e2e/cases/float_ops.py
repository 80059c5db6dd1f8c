"""Every op of ``arith`` and ``math`` on floats. What NumPy says is computed in f64 and rounded once."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from support.case import Case
from support.op_uses import FLOATS, Function, case_of, use, values_of
from support.tensor_text import DTYPES, function, short_type


def _case(
    op: str, numpy: Function, arity: int = 1, allowed: Function | None = None, name: str = "", sum_length: int = 0
) -> Case:
    """``numpy`` works on f64; ``allowed`` says which values are tried."""
    uses = []
    for element in FLOATS:
        values = values_of(element)
        if allowed is not None:
            values = values[allowed(values)]

        def meaning(*operands: np.ndarray, dtype: np.dtype[Any] = DTYPES[element]) -> np.ndarray:
            return numpy(*(x.astype(np.float64) for x in operands)).astype(dtype)

        uses.append(use(op, [element] * arity, element, meaning, *[values] * arity))
    ulps = _ULPS if op.removeprefix("math.") in _OF_KERNELS else 0
    return replace(case_of(name or op, uses), sum_length=sum_length, ulps=ulps)


def _question(op: str, numpy: Function) -> Case:
    """A question about a float, answered by an i1."""
    return case_of(op, [use(op, [e], "i1", numpy, values_of(e)) for e in FLOATS])


def _pointwise(function: Callable[[float], float]) -> Function:
    return lambda x: np.array([function(float(number)) for number in x])


def _round_half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _is_normal(x: np.ndarray) -> np.ndarray:
    return np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny)


def _moderate(x: np.ndarray) -> np.ndarray:
    return ~(np.abs(x) > 1e3)


def _small(x: np.ndarray) -> np.ndarray:
    """Products of these are exact in f64."""
    return np.isin(x, [0, 1, -1, 1.5, -2.5, np.inf])


def _not_zero(x: np.ndarray) -> np.ndarray:
    return x != 0


def _not_minus_zero(x: np.ndarray) -> np.ndarray:
    return (x != 0) | ~np.signbit(x)


def _zero(x: np.ndarray) -> np.ndarray:
    return x == 0


def _larger_zero(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """IEEE's maximum of zeros: -0 is below +0."""
    return np.where(np.signbit(a) & np.signbit(b), -0.0, 0.0)


def _smaller_zero(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.signbit(a) | np.signbit(b), -0.0, 0.0)


_ARITHMETIC: dict[str, Function] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
}
_FUNCTIONS: dict[str, Function] = {
    "absf": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cosh": np.cosh,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "round": _round_half_away,
    "roundeven": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
_OF_KERNELS = frozenset(
    ("cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "powf", "sin", "sinh", "tanh")
)
_ULPS = 4  # 1 or 2 of a kernel's function, and of NumPy's
_ANGLES: dict[str, Function] = {"sin": np.sin, "cos": np.cos, "tan": np.tan}
_QUESTIONS: dict[str, Function] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "isnormal": _is_normal,
}
_EXPONENTS = np.array([0, 1, 2, 3, -1, -2], np.int32)


def _whole_power(x: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return np.power(x.astype(np.float64), exponent).astype(x.dtype)


def _bases(element: str) -> np.ndarray:
    return np.array([0.5, 1.0, -1.0, -1.5, 2.5], DTYPES[element])


def _known_powers(exponents: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -0.5, 4.0)) -> Case:
    """Powers of all numbers whose exponent the program says: most are products or roots."""
    lines, results, arrays = [], [], []
    for element in FLOATS:
        values = values_of(element)
        kind = short_type(values.shape, element)
        for exponent in exponents:
            number = len(results)
            lines.append(f"  %e{number} = arith.constant dense<{exponent}> : tensor<{kind}>")
            lines.append(f"  %r{number} = math.powf %a{len(arrays)}, %e{number} : tensor<{kind}>")
            results.append(kind)
        arrays.append(values)
    arguments = [short_type(values.shape, element) for values, element in zip(arrays, FLOATS, strict=True)]

    def power(x: np.ndarray, exponent: float) -> np.ndarray:
        """As C has it: of a single number as the exponent, NumPy makes a square root itself."""
        return np.power(x.astype(np.float64), np.full(x.shape, exponent)).astype(x.dtype)

    def expected(*inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(power(x, exponent) for x in inputs for exponent in exponents)

    return Case("math.powf-of-known-exponents", function(arguments, results, "\n".join(lines)), tuple(arrays), expected)


CASES = (
    *(_case(f"arith.{op}", numpy, 2) for op, numpy in _ARITHMETIC.items()),
    _case("arith.negf", np.negative),
    _case("arith.maximumf", np.maximum, 2, _not_minus_zero),
    _case("arith.minimumf", np.minimum, 2, _not_minus_zero),
    _case("arith.maximumf", _larger_zero, 2, _zero, "arith.maximumf-of-zeros"),
    _case("arith.minimumf", _smaller_zero, 2, _zero, "arith.minimumf-of-zeros"),
    _case("arith.maxnumf", np.fmax, 2, _not_zero),
    _case("arith.minnumf", np.fmin, 2, _not_zero),
    *(_case(f"math.{op}", numpy) for op, numpy in _FUNCTIONS.items()),
    # Each executor has its own approximation of these, and the last bit is open.
    _case("math.atan2", np.arctan2, 2, sum_length=1),
    _case("math.erf", _pointwise(math.erf), sum_length=1),
    _case("math.erfc", _pointwise(math.erfc), sum_length=1),
    *(_case(f"math.{op}", numpy, 1, _moderate) for op, numpy in _ANGLES.items()),
    _case("math.copysign", np.copysign, 2),
    _case("math.powf", np.power, 2, _moderate),
    _case("math.fma", lambda a, b, c: a * b + c, 3, _small),
    _known_powers(),
    case_of(
        "math.fpowi",
        [use("math.fpowi", [e, "i32"], e, _whole_power, _bases(e), _EXPONENTS, types=f"{e}, i32") for e in FLOATS],
    ),
    *(_question(f"math.{op}", numpy) for op, numpy in _QUESTIONS.items()),
)
