"""Functions of f32 as polynomials: the same operations on numbers and on vectors, so that both give the same bits.

Only a product and a sum that are written as one are rounded once. The errors are those of ``docs/kernels.md``.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32, Arithmetic
from ipu_mlir.runtime.translator.kernels.scalar.code import I32, Value

_TO_WHOLE = 1.5 * 2.0**23
"""Added to a small f32 and taken away again, it leaves the nearest whole number."""


def fma(ops: Arithmetic, a: Value, b: Value, c: Value) -> Value:
    """``a`` times ``b`` and ``c``, rounded once."""
    return ops.op("math.fma", a, b, c)


def polynomial(ops: Arithmetic, x: Value, coefficients: Sequence[float]) -> Value:
    """By Horner's rule, the highest power first."""
    total = ops.constant(coefficients[0], x)
    for coefficient in coefficients[1:]:
        total = fma(ops, total, x, ops.constant(coefficient, x))
    return total


def _power_of_two(ops: Arithmetic, n: Value) -> Value:
    """2 to the power of integers from -126 to 127, as f32, where the last bits of ``n`` are an integer and 127."""
    return ops.bits(ops.op("arith.shli", n, ops.constant(23, n)), F32)


def _below(ops: Arithmetic, x: Value, high: float) -> Value:
    """``x``, or ``high`` if it is more; NaN stays."""
    return ops.select(ops.compare("ogt", x, ops.constant(high, x)), ops.constant(high, x), x)


def between(ops: Arithmetic, x: Value, low: float, high: float) -> Value:
    """``x``, or the bound that it is beyond; NaN stays."""
    x = _below(ops, x, high)
    return ops.select(ops.compare("olt", x, ops.constant(low, x)), ops.constant(low, x), x)


def _less_one(ops: Arithmetic, r: Value) -> Value:
    """exp(``r``) - 1 on half an octave around 1."""
    terms = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
    return fma(ops, polynomial(ops, r, terms), ops.op("arith.mulf", r, r), r)


def _grown(ops: Arithmetic, r: Value, shifted: Value) -> Value:
    """exp(``r``) times 2 to the whole number in ``shifted``, from -150 to 128, and 254; subnormal results are right."""
    y = ops.op("arith.addf", _less_one(ops, r), ops.constant(1, r))
    n = ops.bits(shifted, I32)
    half = ops.op("arith.shrsi", n, ops.constant(1, n))  # 2**n itself may be no normal number
    rest = ops.op("arith.subi", n, half)
    return ops.op("arith.mulf", ops.op("arith.mulf", y, _power_of_two(ops, half)), _power_of_two(ops, rest))


def _whole(ops: Arithmetic, x: Value, factor: float, more: int) -> tuple[Value, Value]:
    """The whole number nearest to ``x`` times ``factor``, and that with ``more`` in the last bits of another number."""
    magic = ops.constant(_TO_WHOLE + more, x)
    shifted = fma(ops, x, ops.constant(factor, x), magic)
    return ops.op("arith.subf", shifted, magic), shifted


def _octaves(ops: Arithmetic, x: Value, more: int = 254) -> tuple[Value, Value]:
    """What is left of ``x`` without a whole number of log 2, and that number and ``more`` as ``_whole`` has them."""
    whole, shifted = _whole(ops, x, 1.44269504088896341, more)
    r = fma(ops, whole, ops.constant(-0.693359375, x), x)
    return fma(ops, whole, ops.constant(2.12194440e-4, x), r), shifted


def exp(ops: Arithmetic, x: Value) -> Value:
    """Cephes: ``2**n`` times a polynomial on half an octave around 1."""
    return _grown(ops, *_octaves(ops, between(ops, x, -104.5, 89)))


def expm1(ops: Arithmetic, x: Value) -> Value:
    """2**n times a polynomial without its 1, and 2**n - 1, both halved, so that neither is infinite too early."""
    r, shifted = _octaves(ops, between(ops, x, -18, 89), 126)
    power = _power_of_two(ops, ops.bits(shifted, I32))
    y = fma(ops, power, _less_one(ops, r), ops.op("arith.subf", power, ops.constant(0.5, x)))
    small = ops.compare("olt", ops.op("math.absf", x), ops.constant(2.0**-25, x))
    return ops.select(small, x, ops.op("arith.addf", y, y))


def exp2(ops: Arithmetic, x: Value) -> Value:
    """As ``exp``; what is left of the whole number is exact."""
    x = between(ops, x, -150, 128)
    whole, shifted = _whole(ops, x, 1, 254)
    left = ops.op("arith.subf", x, whole)
    return _grown(ops, ops.op("arith.mulf", left, ops.constant(0.69314718055994531, x)), shifted)


def tanh(ops: Arithmetic, x: Value) -> Value:
    """``e / (e + 2)``, where ``e`` is exp(2 ``|x|``) - 1: 2**n times a polynomial without its 1, and 2**n - 1."""
    size = _below(ops, ops.op("math.absf", x), 10)
    r, shifted = _octaves(ops, ops.op("arith.addf", size, size), 127)
    power = _power_of_two(ops, ops.bits(shifted, I32))
    grown = fma(ops, power, _less_one(ops, r), ops.op("arith.subf", power, ops.constant(1, x)))
    ratio = ops.op("arith.divf", grown, ops.op("arith.addf", grown, ops.constant(2, x)))
    return ops.op("math.copysign", ratio, x)


def _taken_apart(ops: Arithmetic, x: Value) -> tuple[Value, Value, Value]:
    """A power of two, how far ``x`` divided by it is above 1, and the logarithm of that but for its first term.

    What is left lies between the roots of 1/2 and of 2 (Cephes).
    """
    tiny = ops.compare("olt", x, ops.constant(np.finfo(np.float32).tiny, x))
    scaled = ops.select(tiny, ops.op("arith.mulf", x, ops.constant(2.0**23, x)), x)
    number = ops.bits(scaled, I32)
    moved = ops.op("arith.subi", number, ops.constant(np.float32(0.70710678).view(np.int32), number))
    power = ops.op("arith.shrsi", moved, ops.constant(23, number))
    left = ops.op("arith.subi", number, ops.op("arith.shli", power, ops.constant(23, number)))
    m = ops.op("arith.subf", ops.bits(left, F32), ops.constant(1, x))
    power = ops.op("arith.subi", power, ops.select(tiny, ops.constant(23, number), ops.constant(0, number)))
    square = ops.op("arith.mulf", m, m)
    terms = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1)
    terms += (-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
    y = ops.op("arith.mulf", ops.op("arith.mulf", polynomial(ops, m, terms), m), square)
    return ops.convert("arith.sitofp", power, F32), m, y


def of_positive(ops: Arithmetic, x: Value, y: Value) -> Value:
    """The logarithm ``y`` of ``x``, or what it is of infinity, zero, negative numbers and NaN."""
    y = ops.select(ops.compare("olt", x, ops.constant(np.inf, x)), y, x)
    y = ops.select(ops.compare("oeq", x, ops.constant(0, x)), ops.constant(-np.inf, x), y)
    return ops.select(ops.compare("olt", x, ops.constant(0, x)), ops.constant(np.nan, x), y)


def log(ops: Arithmetic, x: Value) -> Value:
    """Cephes: the exponent times log 2, in two parts, and a polynomial around 1; subnormal numbers are right."""
    e, m, y = _taken_apart(ops, x)
    y = fma(ops, e, ops.constant(-2.12194440e-4, x), y)
    y = fma(ops, ops.constant(-0.5, x), ops.op("arith.mulf", m, m), y)
    y = fma(ops, e, ops.constant(0.693359375, x), ops.op("arith.addf", m, y))
    return of_positive(ops, x, y)


def log1p_by(log: Callable[[Arithmetic, Value], Value]) -> Callable[[Arithmetic, Value], Value]:
    """log(1 + x) of the type of ``log``, and what the sum rounded away divided by it."""

    def log1p(ops: Arithmetic, x: Value) -> Value:
        one = ops.constant(1, x)
        u = ops.op("arith.addf", x, one)
        large = ops.compare("ogt", x, one)
        larger, smaller = ops.select(large, x, one), ops.select(large, one, x)
        lost = ops.op("arith.subf", smaller, ops.op("arith.subf", u, larger))
        y = log(ops, u)
        corrected = ops.op("arith.addf", y, ops.op("arith.divf", lost, u))
        is_edge = ops.op(
            "arith.ori", ops.compare("ole", u, ops.constant(0, x)), ops.compare("oeq", u, ops.constant(np.inf, x))
        )
        corrected = ops.select(is_edge, y, corrected)
        return ops.select(ops.compare("oeq", x, ops.constant(0, x)), x, corrected)

    return log1p


def log2(ops: Arithmetic, x: Value) -> Value:
    """The exponent, and ``log`` of what is left times log2 e in two parts."""
    e, m, y = _taken_apart(ops, x)
    y = fma(ops, ops.constant(-0.5, x), ops.op("arith.mulf", m, m), y)
    more = ops.constant(1.44269504088896341 - 1, x)
    y = fma(ops, m, more, fma(ops, y, more, y))
    return of_positive(ops, x, ops.op("arith.addf", e, ops.op("arith.addf", m, y)))


def erf(ops: Arithmetic, x: Value) -> Value:
    """Norbert Juffa's: a polynomial up to 0.93, beyond it 1 minus the exponential function of one."""
    size, square = ops.op("math.absf", x), ops.op("arith.mulf", x, x)
    r = fma(ops, ops.constant(-1.72853470e-5, x), size, ops.constant(3.83197126e-4, x))
    u = fma(ops, ops.constant(-3.88396438e-3, x), size, ops.constant(2.42546219e-2, x))
    r = fma(ops, r, square, u)
    for coefficient in (-1.06777877e-1, -6.34846687e-1, -1.28717512e-1):
        r = fma(ops, r, size, ops.constant(coefficient, x))
    r = fma(ops, r, size, ops.op("arith.negf", size))
    left, shifted = _octaves(ops, ops.select(ops.compare("olt", r, low := ops.constant(-87, x)), low, r), 127)
    power = _power_of_two(ops, ops.bits(shifted, I32))
    grown = ops.op("arith.mulf", ops.op("arith.addf", _less_one(ops, left), ops.constant(1, x)), power)
    far = ops.op("math.copysign", ops.op("arith.subf", ops.constant(1, x), grown), x)
    terms = (-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1)
    near = fma(ops, polynomial(ops, square, terms), x, x)
    return ops.select(ops.compare("ogt", size, ops.constant(0.927734375, x)), far, near)


def erfc(ops: Arithmetic, x: Value) -> Value:
    """Shepherd and Laframboise: (1 + 2 |x|) exp(x**2) erfc(|x|) is a polynomial of (|x| - 3) / (|x| + 3)."""
    size, one, three = _below(ops, ops.op("math.absf", x), 10.6), ops.constant(1, x), ops.constant(3, x)
    above, double = ops.op("arith.addf", size, three), fma(ops, size, ops.constant(2, x), one)
    inverse = ops.op("arith.divf", one, ops.op("arith.mulf", above, double))
    of_above = ops.op("arith.mulf", double, inverse)
    place = ops.op("arith.mulf", ops.op("arith.subf", size, three), of_above)
    left = fma(ops, ops.op("arith.addf", place, one), ops.constant(-3, x), size)  # size - 3 - place (size + 3)
    left = fma(ops, ops.op("arith.negf", place), size, left)
    place = fma(ops, left, of_above, place)
    terms = (-2.67635179e-4, -7.7462384e-4, 2.00662183e-3, 2.56904545e-3, -2.37994842e-2, 6.82944586e-2)
    terms += (-1.1927081e-1, 1.29646619e-1, -4.75623969e-2, -1.35621147e-1, 1.25300806)
    square = ops.op("arith.mulf", size, size)
    lost = fma(ops, ops.op("arith.negf", size), size, square)
    bell = _grown(ops, *_octaves(ops, ops.op("arith.negf", square)))
    bell = fma(ops, bell, lost, bell)
    scaled = ops.op("arith.mulf", polynomial(ops, place, terms), ops.op("arith.mulf", above, inverse))
    y = ops.op("arith.mulf", bell, scaled)
    return ops.select(ops.compare("olt", x, ops.constant(0, x)), ops.op("arith.subf", ops.constant(2, x), y), y)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "tanh": tanh,
    "log": log,
    "log1p": log1p_by(log),
    "log2": log2,
    "erf": erf,
    "erfc": erfc,
}
"""By the names of NumPy's calls; each takes values of f32."""
