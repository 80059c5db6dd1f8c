"""Cycles of the inner loop of a scalar operation, per so many elements, by operation and type.

Source of every table: hardware.md 4.1, read in the cycle estimators of PopLibs, unless a line says *assumed*.
"""

from dataclasses import dataclass

VECTOR = 0
"""Stands for the natural vector width of the type."""


@dataclass(frozen=True)
class Rate:
    """``cycles`` per ``elements`` elements; ``loop`` more where the operation has a loop to itself.

    Of an operation of one instruction the published figure is split into it and what surrounds it, loads and stores.
    """

    cycles: int
    elements: int = VECTOR
    loop: int = 0


@dataclass(frozen=True)
class Rates:
    """The rates of an operation on f32 and on f16."""

    f32: Rate
    f16: Rate


def _unrolled(f32: tuple[int, int], f16: tuple[int, int]) -> Rates:
    return Rates(Rate(*f32), Rate(*f16))


def _each(cycles_f32: int, cycles_f16: int, elements: int = VECTOR) -> Rates:
    """A loop over vectors (or over ``elements``) that is not unrolled: 4 cycles around the operation."""
    return Rates(Rate(cycles_f32, elements, 4), Rate(cycles_f16, elements, 4))


_ASIN = _each(102, 102, 1)
_EXP = _unrolled((6, 2), (4, 4))
_LOG = _unrolled((12, 2), (4, 4))
_ROUND = _each(2, 2)
_SIN = Rates(Rate(2300, 1, 4), Rate(25, 1))

UNARY: dict[str, Rates] = {
    "abs": _each(1, 1),
    "acos": _ASIN,  # assumed: as asin
    "acosh": _ASIN,  # assumed: as asin, and so are the following
    "asin": _ASIN,
    "asinh": _ASIN,
    "atan": _ASIN,
    "atanh": _ASIN,
    "cbrt": _each(27, 17),
    "ceil": _ROUND,
    "cos": _SIN,
    "cosh": _ASIN,  # assumed: as asin
    "erf": _unrolled((41, 1), (13, 1)),
    "erfc": _unrolled((41, 1), (13, 1)),  # assumed: as erf
    "exp": _EXP,
    "exp2": _EXP,
    "expm1": Rates(Rate(4, 1, 4), Rate(5, VECTOR, 4)),
    "floor": _ROUND,
    "gelu_erf": _unrolled((22, 1), (16, 1)),
    "inverse": _unrolled((6, 2), (15, 4)),
    "isfinite": _each(5, 5),
    "isinf": _each(3, 3),  # assumed: as isnan
    "isnan": _each(3, 3),
    "isnormal": _each(5, 5),  # assumed: as isfinite
    "log": _LOG,
    "log10": _LOG,  # assumed: as log
    "log1p": _each(18, 18),
    "log2": _LOG,  # assumed: as log
    "neg": _unrolled((2, 2), (2, 4)),
    "relu": _unrolled((3, 2), (3, 4)),
    "round": _ROUND,
    "roundeven": _ROUND,
    "rsqrt": _unrolled((8, 2), (19, 4)),
    "sigmoid": _unrolled((12, 2), (6, 4)),
    "sin": _SIN,
    "sinh": _ASIN,  # assumed: as asin
    "sqrt": _unrolled((10, 2), (23, 4)),
    "square": _unrolled((2, 2), (2, 4)),
    "tan": _each(5100, 5700, 1),
    "tanh": _unrolled((12, 2), (4, 4)),
    "trunc": _unrolled((3, 2), (11, 4)),
}
"""Unary operations on floats."""

_ARITHMETIC = Rates(Rate(1, VECTOR, 2), Rate(1, VECTOR, 2))
_COMPARE = Rates(Rate(2, 4, 12), Rate(1, 4, 8))
_EXTREME = Rates(Rate(1, 2, 2), Rate(1, 4, 2))
_POW = _unrolled((312, 1), (325, 1))

BINARY: dict[str, Rates] = {
    "add": _ARITHMETIC,
    "atan2": _unrolled((272, 2), (578, 4)),
    "clamp": _unrolled((6, 2), (6, 4)),  # assumed: a maximum and a minimum
    "compare": _COMPARE,
    "copysign": _each(1, 1),  # assumed: as abs
    "div": _unrolled((10, 2), (21, 4)),
    "fma": Rates(Rate(2, VECTOR, 2), Rate(2, VECTOR, 2)),  # assumed: a product and a sum with one load and store
    "max": _EXTREME,
    "min": _EXTREME,
    "mul": _ARITHMETIC,
    "pow": _POW,
    "rem": _unrolled((133, 2), (300, 4)),
    "scaled_add": _ARITHMETIC,  # hardware.md 4.1: up to 3 cycles per vector; the scale stays in a register
    "sub": _ARITHMETIC,
}
"""Operations of two floats, and of three."""

_BROADCAST = Rates(Rate(1, VECTOR, 1), Rate(1, VECTOR, 1))

BROADCAST: dict[str, Rates] = {
    "add": _BROADCAST,
    "div": _unrolled((6, 2), (8, 2)),
    "max": _EXTREME,
    "min": _EXTREME,
    "mul": _BROADCAST,
    "sub": _BROADCAST,
}
"""Binary operations of which one operand is the same for a whole vertex or row."""

INTEGER: dict[str, Rate] = {
    "abs": Rate(2, 1, 4),
    "bits": Rate(1, 1, 4),  # counting bits
    "compare": Rate(4, 4, 18),
    "div": Rate(277, 1),
    "divu": Rate(265, 1),
    "logical": Rate(4, 4, 1),  # and, or of booleans
    "plain": Rate(1, 1, 6),  # add, sub, mul, bitwise, shift; assumed for max and min
    "pow": Rate(312, 1),  # assumed: as of floats
}
"""Operations on integers, of any width up to 32 bits."""

SELECT = Rate(2, 1, 3)
"""One of two values by a condition, any type."""
