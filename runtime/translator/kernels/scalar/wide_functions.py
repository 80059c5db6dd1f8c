"""Functions that are computed in f64: those of f64, and those of f32 for which that is the shortest way to be right.

Coefficients of ``log`` are fdlibm's, those of ``arctan`` a fit; all others are Taylor's. The errors are those of
``docs/kernels.md``.
"""

from collections.abc import Callable
from fractions import Fraction
from math import factorial

import numpy as np

from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32, F64, Arithmetic
from ipu_mlir.runtime.translator.kernels.scalar.code import I64, Value, type_text
from ipu_mlir.runtime.translator.kernels.scalar.functions import between, fma, log1p_by, of_positive, polynomial

_LN2, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has 21 zeros at its end
_LOG = (1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01)
_LOG += (2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01)
_TO_WHOLE = 1.5 * 2.0**52
_HALF_PI, _HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17
_SIN = tuple((-1) ** (k // 2) / factorial(k) for k in (11, 9, 7, 5, 3))
_COS = tuple((-1) ** (k // 2) / factorial(k) for k in (12, 10, 8, 6, 4))
_ATAN = (-9.362993216862e-4, 6.207253761452e-3, -1.926107962762e-2, 3.832744391141e-2, -5.760715929083e-2)
_ATAN += (7.417496892843e-2, -9.036742321723e-2, 1.11047067853e-1, -1.428531796363e-1, 1.999999027594e-1)
_ATAN += (-3.33333332933e-1, 1.0)  # of squares up to 1, with an error of 3e-10
_EXP = tuple(1 / factorial(k) for k in range(13, 1, -1))
_SMALL_ANGLE = 2.0**45  # up to it the whole number of right angles is exact in f64

TURNS = "turns"
"""The array that ``sin`` and ``cos`` of large numbers look into: 2**e quarter turns over pi / 2, less whole turns."""
_FIRST_EXPONENT, _EXPONENTS = 22, 83
_TWO_OVER_PI = Fraction(
    0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424DD2E006492EEA, 1 << 352
)


def turns() -> np.ndarray:
    """``(2**e * 2 / pi) mod 4`` for every exponent of a large f32, as 29 bits and what is left."""
    found = np.empty((_EXPONENTS, 2))
    for row, exponent in enumerate(range(_FIRST_EXPONENT, _FIRST_EXPONENT + _EXPONENTS)):
        exact = (_TWO_OVER_PI * 2**exponent) % 4
        head = Fraction(round(exact * 2**27), 2**27)
        found[row] = float(head), float(exact - head)
    return found.reshape(-1)


def with_table(functions: str) -> str:
    """The text of ``functions``, behind the table that they look into if they do."""
    if f"@{TURNS}" not in functions:
        return functions
    numbers = ", ".join(f"0x{bits:016X}" for bits in turns().view(np.uint64))
    count = len(turns())
    dense = f"dense<[{numbers}]> : tensor<{count}xf64>"
    return f"  llvm.mlir.global internal constant @{TURNS}({dense}) : !llvm.array<{count} x f64>\n{functions}"


def _add(ops: Arithmetic, a: Value, b: Value) -> Value:
    return ops.op("arith.addf", a, b)


def _sub(ops: Arithmetic, a: Value, b: Value) -> Value:
    return ops.op("arith.subf", a, b)


def _mul(ops: Arithmetic, a: Value, b: Value) -> Value:
    return ops.op("arith.mulf", a, b)


def _power_of_two(ops: Arithmetic, n: Value) -> Value:
    """2 to the power of integers from -1022 to 1023."""
    biased = ops.op("arith.addi", n, ops.constant(1023, n))
    return ops.bits(ops.op("arith.shli", biased, ops.constant(52, n)), F64)


def _whole(ops: Arithmetic, shifted: Value) -> tuple[Value, Value]:
    """The whole number to which ``_TO_WHOLE`` was added, as a float and as an integer."""
    magic = ops.code.constant(np.float64(_TO_WHOLE).view(np.int64), I64, shifted.lanes)
    number = ops.op("arith.subi", ops.bits(shifted, I64), magic)
    return _sub(ops, shifted, ops.constant(_TO_WHOLE, shifted)), number


def _near_zero(ops: Arithmetic, x: Value) -> tuple[Value, Value]:
    """exp(r) - 1 and n for ``x`` = n log 2 + r."""
    whole, n = _whole(ops, fma(ops, x, ops.constant(1 / np.log(2.0), x), ops.constant(_TO_WHOLE, x)))
    r = fma(ops, whole, ops.constant(-_LN2_LOW, x), fma(ops, whole, ops.constant(-_LN2, x), x))
    return fma(ops, polynomial(ops, r, _EXP), _mul(ops, r, r), r), n


def exp(ops: Arithmetic, x: Value) -> Value:
    """2**n times a polynomial; subnormal results are rounded once."""
    p, n = _near_zero(ops, between(ops, x, -746, 710))
    half = ops.op("arith.shrsi", n, ops.constant(1, n))
    rest = ops.op("arith.subi", n, half)
    grown = _mul(ops, _add(ops, p, ops.constant(1, x)), _power_of_two(ops, half))
    return _mul(ops, grown, _power_of_two(ops, rest))


def expm1(ops: Arithmetic, x: Value) -> Value:
    """2**n times a polynomial without its 1, and 2**n - 1, both halved, so that neither is infinite too early."""
    p, n = _near_zero(ops, between(ops, x, -45, 710))
    power = _power_of_two(ops, ops.op("arith.subi", n, ops.constant(1, n)))
    y = fma(ops, power, p, _sub(ops, power, ops.constant(0.5, x)))
    return ops.select(ops.compare("oeq", x, ops.constant(0, x)), x, _add(ops, y, y))


def _log_parts(ops: Arithmetic, x: Value) -> tuple[Value, Value, Value, Value]:
    """k, f, f**2 / 2 and the rest of log(1 + f), for ``x`` = 2**k (1 + f), 1 + f between the roots of 1/2 and 2."""
    tiny = ops.compare("olt", x, ops.constant(np.finfo(np.float64).tiny, x))
    number = ops.bits(ops.select(tiny, _mul(ops, x, ops.constant(2.0**54, x)), x), I64)
    moved = ops.op("arith.subi", number, ops.constant(np.float64(0.5**0.5).view(np.int64), number))
    power = ops.op("arith.shrsi", moved, ops.constant(52, number))
    left = ops.op("arith.subi", number, ops.op("arith.shli", power, ops.constant(52, number)))
    f = _sub(ops, ops.bits(left, F64), ops.constant(1, x))
    power = ops.op("arith.subi", power, ops.select(tiny, ops.constant(54, number), ops.constant(0, number)))
    s = ops.op("arith.divf", f, _add(ops, f, ops.constant(2, x)))
    z = _mul(ops, s, s)
    half = _mul(ops, _mul(ops, f, f), ops.constant(0.5, x))
    more = _mul(ops, s, fma(ops, polynomial(ops, z, _LOG), z, half))
    return ops.convert("arith.sitofp", power, F64), f, half, more


def log(ops: Arithmetic, x: Value) -> Value:
    """fdlibm's."""
    k, f, half, more = _log_parts(ops, x)
    more = fma(ops, k, ops.constant(_LN2_LOW, x), more)
    y = fma(ops, k, ops.constant(_LN2, x), _sub(ops, f, _sub(ops, half, more)))
    return of_positive(ops, x, y)


def log2(ops: Arithmetic, x: Value) -> Value:
    """The exponent, and the logarithm of what is left times log2 e in two parts."""
    k, f, half, more = _log_parts(ops, x)
    y = _sub(ops, f, _sub(ops, half, more))
    y = fma(ops, y, ops.constant(1.4426950408889634, x), _mul(ops, y, ops.constant(2.0355273740931033e-17, x)))
    return of_positive(ops, x, _add(ops, k, y))


def exp2(ops: Arithmetic, x: Value) -> Value:
    """As ``exp``; what is left of the whole number is exact, its product with log 2 has two parts."""
    x = between(ops, x, -1080, 1024)
    whole, n = _whole(ops, _add(ops, x, ops.constant(_TO_WHOLE, x)))
    left, ln2 = _sub(ops, x, whole), ops.constant(0.6931471805599453, x)
    r = _mul(ops, left, ln2)
    low = fma(ops, left, ln2, ops.op("arith.negf", r))
    low = fma(ops, left, ops.constant(2.3190468138462996e-17, x), low)
    p = _add(ops, fma(ops, polynomial(ops, r, _EXP), _mul(ops, r, r), low), r)
    half = ops.op("arith.shrsi", n, ops.constant(1, n))
    grown = _mul(ops, _add(ops, p, ops.constant(1, x)), _power_of_two(ops, half))
    return _mul(ops, grown, _power_of_two(ops, ops.op("arith.subi", n, half)))


def tanh(ops: Arithmetic, x: Value) -> Value:
    """e / (e + 2) of e = exp(2 |x|) - 1."""
    size = between(ops, ops.op("math.absf", x), 0, 22)
    e = expm1(ops, _add(ops, size, size))
    y = ops.op("arith.divf", e, _add(ops, e, ops.constant(2, x)))
    return ops.op("math.copysign", y, x)


# -- of f32


def _wide(ops: Arithmetic, x: Value) -> Value:
    return ops.convert("arith.extf", x, F64)


def _by(function: Callable[[Arithmetic, Value], Value]) -> Callable[[Arithmetic, Value], Value]:
    """``function`` of f64 for f32: rounded twice, which is seen in one of 2**28 numbers."""

    def rule(ops: Arithmetic, x: Value) -> Value:
        return ops.convert("arith.truncf", function(ops, _wide(ops, x)), F32)

    return rule


def _log10(ops: Arithmetic, x: Value) -> Value:
    return _mul(ops, log(ops, x), ops.constant(1 / np.log(10.0), x))


def _cosh(ops: Arithmetic, x: Value) -> Value:
    e = exp(ops, x)
    return _mul(ops, _add(ops, e, ops.op("arith.divf", ops.constant(1, x), e)), ops.constant(0.5, x))


def _sinh(ops: Arithmetic, x: Value) -> Value:
    e = expm1(ops, between(ops, ops.op("math.absf", x), 0, 200))
    y = _add(ops, e, ops.op("arith.divf", e, _add(ops, e, ops.constant(1, x))))
    return ops.op("math.copysign", _mul(ops, y, ops.constant(0.5, x)), x)


def power(ops: Arithmetic, x: Value, y: Value) -> Value:
    """exp(y log |x|) in f64, with the sign and the edges that C gives it."""
    x, y = ops.together([x, y])
    one, size = ops.constant(1, x), ops.op("math.absf", x)
    found = exp(ops, _mul(ops, _wide(ops, y), log(ops, _wide(ops, size))))
    found = ops.convert("arith.truncf", found, F32)
    is_whole = ops.compare("oeq", ops.op("math.floor", y), y)
    held = ops.cast(between(ops, y, -(2.0**24), 2.0**24), np.dtype(np.int32))
    last = ops.both(held, ops.constant(1, held))
    is_odd = ops.both(is_whole, ops.compare("ne", last, ops.constant(0, last)))
    found = ops.select(is_odd, ops.op("math.copysign", found, x), found)
    below = ops.both(ops.compare("olt", x, ops.constant(0, x)), ops.compare("ogt", x, ops.constant(-np.inf, x)))
    is_fraction = ops.compare("une", ops.op("math.floor", y), y)
    found = ops.select(ops.both(below, is_fraction), ops.constant(np.nan, x), found)
    infinite = ops.compare("oeq", ops.op("math.absf", y), ops.constant(np.inf, y))
    is_one = ops.op(
        "arith.ori",
        ops.op("arith.ori", ops.compare("oeq", x, one), ops.compare("oeq", y, ops.constant(0, y))),
        ops.both(ops.compare("oeq", size, one), infinite),
    )
    return ops.select(is_one, one, found)


def _angle(ops: Arithmetic, x: Value) -> tuple[Value, Value]:
    """What is left of the f32 ``x`` in f64 when right angles are taken away, and how many these are, but for turns."""
    wide, code = _wide(ops, x), ops.code
    shifted = fma(ops, wide, ops.constant(2 / np.pi, wide), ops.constant(_TO_WHOLE, wide))
    whole, n = _whole(ops, shifted)
    r = fma(ops, whole, ops.constant(-_HALF_PI, wide), wide)
    r = fma(ops, whole, ops.constant(-_HALF_PI_LOW, wide), r)
    places = []
    for value in (r, n):
        size = code.index(1)
        place = code.first(f"llvm.alloca {size} x {value.type} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr")
        code.line(f"llvm.store {value.name}, {place} : {value.type}, !llvm.ptr")
        places.append(place)
    large = ops.compare("ogt", ops.op("math.absf", wide), ops.constant(_SMALL_ANGLE, wide))
    with code.block(f"scf.if {any_lane(ops, large)} {{"):
        for value, place, other in zip((r, n), places, _large_angle(ops, wide), strict=True):
            chosen = ops.select(large, other, value)
            code.line(f"llvm.store {chosen.name}, {place} : {value.type}, !llvm.ptr")
    r, n = (
        Value(code.value(f"llvm.load {place} : !llvm.ptr -> {value.type}"), value.dtype, value.lanes)
        for value, place in zip((r, n), places, strict=True)
    )
    return r, n


def any_lane(ops: Arithmetic, mask: Value) -> str:
    """True if one of the lanes of ``mask`` is: their bytes, read as two numbers."""
    if mask.lanes == 1:
        return mask.name
    code, lanes = ops.code, ops.convert("arith.extui", mask, np.dtype(np.int8))
    place = code.first(f"llvm.alloca {code.index(1)} x {lanes.type} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr")
    code.line(f"llvm.store {lanes.name}, {place} : {lanes.type}, !llvm.ptr")
    other = code.value(f"llvm.getelementptr {place}[{lanes.lanes // 2}] : (!llvm.ptr) -> !llvm.ptr, i8")
    low, high = (Value(code.value(f"llvm.load {each} : !llvm.ptr -> i64"), I64) for each in (place, other))
    return ops.compare("ne", ops.op("arith.ori", low, high), code.constant(0, I64)).name


def _large_angle(ops: Arithmetic, x: Value) -> tuple[Value, Value]:
    """The same of an f64 of 24 bits above ``_SMALL_ANGLE``: these times what the power of two is, less whole turns."""
    bits, code = ops.bits(x, I64), ops.code
    exponent = ops.op("arith.shrui", bits, ops.constant(52, bits))
    row = ops.op(
        "arith.subi", ops.both(exponent, ops.constant(0x7FF, bits)), ops.constant(1023 + 23 + _FIRST_EXPONENT, bits)
    )
    row = ops.op("arith.minsi", ops.op("arith.maxsi", row, ops.constant(0, row)), ops.constant(_EXPONENTS - 1, row))
    number = ops.both(bits, ops.constant(-1 - 0x7FF0000000000000, bits))  # its sign and its bits, from 2**23 on
    number = ops.bits(ops.op("arith.ori", number, ops.constant((1023 + 23) << 52, bits)), F64)
    table = code.value(f"llvm.mlir.addressof @{TURNS} : !llvm.ptr")
    parts = []
    for part in (0, 1):
        at = ops.op("arith.addi", ops.op("arith.shli", row, ops.constant(1, row)), ops.constant(part, row))
        if x.lanes == 1:
            place = code.value(f"llvm.getelementptr {table}[{at.name}] : (!llvm.ptr, i64) -> !llvm.ptr, f64")
            parts.append(Value(code.value(f"llvm.load {place} : !llvm.ptr -> f64"), F64))
            continue
        pointers = f"vector<{x.lanes}x!llvm.ptr>"
        place = code.value(f"llvm.getelementptr {table}[{at.name}] : (!llvm.ptr, {at.type}) -> {pointers}, f64")
        mask, zeros = code.constant(True, np.dtype(bool), x.lanes), ops.constant(0, x)
        kind = type_text(F64, x.lanes)
        name = code.value(
            f"llvm.intr.masked.gather {place}, {mask.name}, {zeros.name} {{alignment = 8 : i32}} : "
            f"({pointers}, {mask.type}, {kind}) -> {kind}"
        )
        parts.append(Value(name, F64, x.lanes))
    exact = _mul(ops, number, parts[0])
    whole, n = _whole(ops, _add(ops, exact, ops.constant(_TO_WHOLE, x)))
    left = fma(ops, number, parts[1], _sub(ops, exact, whole))
    left = _mul(ops, left, ops.constant(_HALF_PI, x))
    infinite = ops.compare("ueq", ops.op("math.absf", x), ops.constant(np.inf, x))
    return ops.select(infinite, ops.constant(np.nan, x), left), n


def _waves(ops: Arithmetic, r: Value) -> tuple[Value, Value]:
    """The sine and the cosine of up to half a right angle."""
    square = _mul(ops, r, r)
    sine = fma(ops, _mul(ops, polynomial(ops, square, _SIN), square), r, r)
    near = fma(ops, ops.constant(-0.5, r), square, ops.constant(1, r))
    return sine, fma(ops, polynomial(ops, square, _COS), _mul(ops, square, square), near)


def _wave(quarter: int) -> Callable[[Arithmetic, Value], Value]:
    """The sine of ``quarter`` right angles more."""

    def rule(ops: Arithmetic, x: Value) -> Value:
        r, n = _angle(ops, x)
        sine, cosine = _waves(ops, r)
        n = ops.op("arith.addi", n, ops.constant(quarter, n))
        zero = ops.constant(0, n)
        y = ops.select(ops.compare("ne", ops.both(n, ops.constant(1, n)), zero), cosine, sine)
        is_low = ops.compare("ne", ops.both(n, ops.constant(2, n)), zero)
        y = ops.convert("arith.truncf", ops.select(is_low, ops.op("arith.negf", y), y), F32)
        return y if quarter else ops.select(ops.compare("oeq", x, ops.constant(0, x)), x, y)

    return rule


def _tan(ops: Arithmetic, x: Value) -> Value:
    r, n = _angle(ops, x)
    sine, cosine = _waves(ops, r)
    is_odd = ops.compare("ne", ops.both(n, ops.constant(1, n)), ops.constant(0, n))
    above, below = ops.select(is_odd, ops.op("arith.negf", cosine), sine), ops.select(is_odd, sine, cosine)
    y = ops.convert("arith.truncf", ops.op("arith.divf", above, below), F32)
    return ops.select(ops.compare("oeq", x, ops.constant(0, x)), x, y)


def _direction(ops: Arithmetic, y: Value, x: Value) -> Value:
    """The angle of the point (``x``, ``y``), with the edges that C gives it: of f64, as right as an f32 is."""
    high, wide = ops.op("math.absf", y), ops.op("math.absf", x)
    is_steep = ops.compare("ogt", high, wide)
    small, large = ops.select(is_steep, wide, high), ops.select(is_steep, high, wide)
    t = ops.op("arith.divf", small, large)
    t = ops.select(ops.compare("oeq", large, ops.constant(0, x)), large, t)
    t = ops.select(ops.compare("oeq", small, ops.constant(np.inf, x)), ops.constant(1, x), t)
    turn = _mul(ops, t, polynomial(ops, _mul(ops, t, t), _ATAN))
    turn = ops.select(is_steep, _sub(ops, ops.constant(_HALF_PI, x), turn), turn)
    is_left = ops.compare("slt", ops.bits(x, I64), ops.constant(0, ops.bits(x, I64)))
    turn = ops.select(is_left, _sub(ops, ops.constant(np.pi, x), turn), turn)
    return ops.op("math.copysign", ops.select(ops.compare("uno", x, y), _add(ops, x, y), turn), y)


def _arctan2(ops: Arithmetic, y: Value, x: Value) -> Value:
    y, x = ops.together([y, x])
    return ops.convert("arith.truncf", _direction(ops, _wide(ops, y), _wide(ops, x)), F32)


def _arctan(ops: Arithmetic, x: Value) -> Value:
    return _direction(ops, x, ops.constant(1, x))


def _other_leg(ops: Arithmetic, x: Value) -> Value:
    """The root of 1 - ``x`` squared; NaN beyond 1."""
    one = ops.constant(1, x)
    return ops.op("math.sqrt", _mul(ops, _sub(ops, one, x), _add(ops, one, x)))


def _arcsin(ops: Arithmetic, x: Value) -> Value:
    return _direction(ops, x, _other_leg(ops, x))


def _arccos(ops: Arithmetic, x: Value) -> Value:
    return _direction(ops, _other_leg(ops, x), x)


def _arcsinh(ops: Arithmetic, x: Value) -> Value:
    size, one = between(ops, ops.op("math.absf", x), 0, 1e100), ops.constant(1, x)
    square = _mul(ops, size, size)
    root = ops.op("math.sqrt", _add(ops, square, one))
    y = _log1p(ops, _add(ops, size, ops.op("arith.divf", square, _add(ops, root, one))))
    is_infinite = ops.compare("oeq", ops.op("math.absf", x), ops.constant(np.inf, x))
    return ops.op("math.copysign", ops.select(is_infinite, x, y), x)


def _arccosh(ops: Arithmetic, x: Value) -> Value:
    above, one = _sub(ops, x, ops.constant(1, x)), ops.constant(1, x)
    y = _log1p(ops, _add(ops, above, ops.op("math.sqrt", fma(ops, above, above, _add(ops, above, above)))))
    return ops.select(ops.compare("olt", x, one), ops.constant(np.nan, x), y)


def _arctanh(ops: Arithmetic, x: Value) -> Value:
    size = ops.op("math.absf", x)
    ratio = ops.op("arith.divf", _add(ops, size, size), _sub(ops, ops.constant(1, x), size))
    return ops.op("math.copysign", _mul(ops, ops.constant(0.5, x), _log1p(ops, ratio)), x)


def _cbrt(ops: Arithmetic, x: Value) -> Value:
    y = exp(ops, _mul(ops, log(ops, ops.op("math.absf", x)), ops.constant(1 / 3, x)))
    return ops.op("math.copysign", y, x)


_log1p = log1p_by(log)

FUNCTIONS_OF_F64: dict[str, Callable[..., Value]] = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log1p": _log1p,
    "log2": log2,
    "tanh": tanh,
}
FUNCTIONS_BY_F64: dict[str, Callable[..., Value]] = {
    "arccos": _by(_arccos),
    "arccosh": _by(_arccosh),
    "arcsin": _by(_arcsin),
    "arcsinh": _by(_arcsinh),
    "arctan": _by(_arctan),
    "arctan2": _arctan2,
    "arctanh": _by(_arctanh),
    "cbrt": _by(_cbrt),
    "cos": _wave(1),
    "cosh": _by(_cosh),
    "log10": _by(_log10),
    "power": power,
    "sin": _wave(0),
    "sinh": _by(_sinh),
    "tan": _tan,
}
"""Of f32."""
