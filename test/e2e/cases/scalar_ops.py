"""Every op on scalars of ``arith`` and ``math``, in every type it takes, on ordinary and on special values.

What NumPy says about floats is computed in f64 and rounded once.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from support.case import Case
from support.tensor_text import DTYPES, function, generic, short_type

Function = Callable[..., Any]

FLOATS = ("f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "index")
ALL_INTEGERS = ("i1", *INTEGERS)

_SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 3.7, -7.25, 20.0, 1e-20, 1e30, np.inf, -np.inf, np.nan]


def _floats(element: str) -> np.ndarray:
    return np.array(_SPECIAL, DTYPES[element])


def _integers(element: str) -> np.ndarray:
    if element == "i1":
        return np.array([False, True])
    info = np.iinfo(DTYPES[element])
    return np.array([0, 1, -1, 2, -2, 3, 7, -7, 10, -100, 100, info.max, info.min, info.max - 1], DTYPES[element])


def _values(element: str) -> np.ndarray:
    return _floats(element) if element in FLOATS else _integers(element)


def _unsigned(x: np.ndarray) -> np.ndarray:
    """The same bits as a number without sign."""
    return x.astype(np.uint8) if x.dtype == bool else x.view(f"u{x.dtype.itemsize}")


def _signed(x: np.ndarray) -> np.ndarray:
    """The number that the bits of an MLIR integer mean with a sign: a true i1 is -1."""
    return -x.astype(np.int8) if x.dtype == bool else x


def _low_bits(x: np.ndarray, dtype: Any) -> np.ndarray:
    return (np.asarray(x) & 1).astype(bool) if dtype == bool else np.asarray(x).astype(dtype)


def _op(
    op: str,
    in_types: Sequence[str],
    out_type: str,
    numpy: Function,
    *values: np.ndarray,
    attributes: str = "",
    types: str | None = None,
) -> tuple[str, list[np.ndarray], str, Function]:
    """One use of an op: its text on ``%x0, %x1, ...``, all combinations of values, type of the result, and meaning."""
    operands = ", ".join(f"%x{place}" for place in range(len(in_types)))
    grids = [np.array(column) for column in zip(*product(*values), strict=True)]
    arrays = [grid.astype(column.dtype) for grid, column in zip(grids, values, strict=True)]
    return f"{op}{attributes} {operands} : {types or in_types[0]}", arrays, out_type, numpy


Use = tuple[str, list[np.ndarray], str, Function]


def _case(name: str, uses: Sequence[tuple[Use, Sequence[str]]]) -> Case:
    """One program that has every one of ``uses`` as a result of its own."""
    arguments: list[str] = []
    arrays: list[np.ndarray] = []
    results, lines, meanings = [], [], []
    for number, ((body, columns, out_type, numpy), in_types) in enumerate(uses):
        size = len(columns[0])
        first = len(arguments)
        operands = [(f"%a{first + place}", f"{size}x{element}[i]") for place, element in enumerate(in_types)]
        arguments += [short_type((size,), element) for element in in_types]
        arrays += columns
        results.append(short_type((size,), out_type))
        lines.append(generic(f"%r{number}", "i", operands, f"{size}x{out_type}[i]", body))
        meanings.append((numpy, first, first + len(in_types)))
    text = function(arguments, results, "\n".join(lines))
    return Case(name, text, tuple(arrays), lambda *all_: tuple(f(*all_[a:b]) for f, a, b in meanings))


def _float_case(
    op: str, numpy: Function, arity: int = 1, allowed: Function | None = None, name: str = "", sum_length: int = 0
) -> Case:
    """``numpy`` works on f64; ``allowed`` says which values are tried."""
    uses = []
    for element in FLOATS:
        values = _values(element)
        if allowed is not None:
            values = values[allowed(values)]

        def meaning(*operands: np.ndarray, dtype: Any = DTYPES[element]) -> np.ndarray:
            result = numpy(*(x.astype(np.float64) for x in operands))
            return result if result.dtype == bool else result.astype(dtype)

        uses.append((_op(op, [element] * arity, element, meaning, *[values] * arity), [element] * arity))
    return replace(_case(name or op, uses), sum_length=sum_length)


def _predicate_case(op: str, numpy: Function) -> Case:
    """A question about floats, answered by an i1."""
    return _case(op, [(_op(op, [e], "i1", numpy, _values(e)), [e]) for e in FLOATS])


def _integer_case(
    op: str,
    read: Function,
    numpy: Function,
    *,
    arity: int = 2,
    types: Sequence[str] = ALL_INTEGERS,
    second: Function | None = None,
    name: str = "",
) -> Case:
    """``numpy`` works on the numbers that ``read`` sees in the bits, and wraps around.

    Args:
        second: the values of the second operand for a type, where not all will do.
    """
    uses = []
    for element in types:
        values = [_values(element)] * arity
        if second is not None:
            values[1] = second(element)

        def meaning(*operands: np.ndarray, dtype: Any = DTYPES[element]) -> np.ndarray:
            return _low_bits(numpy(*map(read, operands)), dtype)

        uses.append((_op(op, [element] * arity, element, meaning, *values), [element] * arity))
    return _case(name or op, uses)


def _divisors(element: str) -> np.ndarray:
    """Neither 0 nor -1: MLIR leaves open what these give for some dividends."""
    return np.array([1, 2, -2, 3, -7, 100], DTYPES[element])


def _amounts(element: str) -> np.ndarray:
    """Shifts by less than the width."""
    width = 1 if element == "i1" else 8 * DTYPES[element].itemsize
    return np.unique([0, min(1, width - 1), width // 2, width - 1]).astype(DTYPES[element])


def _exact(function: Function) -> Function:
    """``function`` of Python's integers of any size, of which the low bits are taken."""

    def run(*operands: np.ndarray) -> np.ndarray:
        found = [function(*map(int, numbers)) & (1 << 64) - 1 for numbers in zip(*operands, strict=True)]
        return np.array(found, np.uint64)

    return run


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _pointwise(function: Callable[[float], float]) -> Function:
    return lambda x: np.array([function(float(number)) for number in x])


def _round_half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _sign_aware(larger: bool) -> Function:
    """IEEE maximum or minimum: NaN if either is, and -0 below +0."""

    def run(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        chosen = np.maximum(a, b) if larger else np.minimum(a, b)
        zeros = (a == 0) & (b == 0)
        negative = np.signbit(a) & np.signbit(b) if larger else np.signbit(a) | np.signbit(b)
        return np.where(zeros, np.where(negative, -0.0, 0.0), chosen)

    return run


def _moderate(x: np.ndarray) -> np.ndarray:
    return ~(np.abs(x) > 1e3)


def _not_minus_zero(x: np.ndarray) -> np.ndarray:
    return (x != 0) | ~np.signbit(x)


def _zero(x: np.ndarray) -> np.ndarray:
    return x == 0


_FLOAT_OPS = (
    *(_float_case(f"arith.{op}", numpy, 2) for op, numpy in
      {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide, "remf": np.fmod}.items()),
    _float_case("arith.negf", np.negative),
    _float_case("arith.maximumf", np.maximum, 2, _not_minus_zero),
    _float_case("arith.minimumf", np.minimum, 2, _not_minus_zero),
    _float_case("arith.maximumf", _sign_aware(True), 2, _zero, "arith.maximumf-of-zeros"),
    _float_case("arith.minimumf", _sign_aware(False), 2, _zero, "arith.minimumf-of-zeros"),
    _float_case("arith.maxnumf", np.fmax, 2, allowed=lambda x: x != 0),
    _float_case("arith.minnumf", np.fmin, 2, allowed=lambda x: x != 0),
    *(_float_case(f"math.{op}", numpy) for op, numpy in {
        "absf": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
        "atan": np.arctan, "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "cosh": np.cosh, "exp": np.exp,
        "exp2": np.exp2, "expm1": np.expm1, "floor": np.floor, "log": np.log, "log10": np.log10, "log1p": np.log1p,
        "log2": np.log2, "roundeven": np.rint, "round": _round_half_away, "sinh": np.sinh, "sqrt": np.sqrt,
        "tanh": np.tanh, "trunc": np.trunc, "rsqrt": lambda x: 1 / np.sqrt(x)}.items()),
    # NumPy lacks these: each executor has its own approximation, and the last bit is open.
    _float_case("math.erf", _pointwise(math.erf), sum_length=1),
    _float_case("math.erfc", _pointwise(math.erfc), sum_length=1),
    *(_float_case(f"math.{op}", numpy, allowed=_moderate) for op, numpy in
      {"sin": np.sin, "cos": np.cos, "tan": np.tan}.items()),
    _float_case("math.atan2", np.arctan2, 2),
    _float_case("math.copysign", np.copysign, 2),
    _float_case("math.powf", np.power, 2, allowed=_moderate),
    _float_case("math.fma", lambda a, b, c: a * b + c, 3, allowed=lambda x: np.isin(x, [0, 1, -1, 1.5, -2.5, np.inf])),
    _case("math.fpowi", [
        (_op("math.fpowi", [e, "i32"], e, lambda x, n: np.power(x.astype(np.float64), n).astype(x.dtype),
             np.array([0.5, 1.0, -1.0, -1.5, 2.5], DTYPES[e]), np.array([0, 1, 2, 3, -1, -2], np.int32),
             types=f"{e}, i32"), [e, "i32"]) for e in FLOATS]),
    *(_predicate_case(f"math.{op}", numpy) for op, numpy in {
        "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
        "isnormal": lambda x: np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny)}.items()),
)  # fmt: skip

_INTEGER_OPS = (
    *(_integer_case(f"arith.{op}", _unsigned, numpy) for op, numpy in {
        "addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and, "ori": np.bitwise_or,
        "xori": np.bitwise_xor, "maxui": np.maximum, "minui": np.minimum}.items()),
    _integer_case("arith.maxsi", _signed, np.maximum),
    _integer_case("arith.minsi", _signed, np.minimum),
    *(_integer_case(f"arith.{op}", _signed, _exact(numpy), types=INTEGERS, second=_divisors) for op, numpy in {
        "divsi": _truncated, "remsi": lambda a, b: a - b * _truncated(a, b), "floordivsi": lambda a, b: a // b,
        "ceildivsi": lambda a, b: -(-a // b)}.items()),
    *(_integer_case(f"arith.{op}", _unsigned, _exact(numpy), types=INTEGERS, second=_divisors) for op, numpy in {
        "divui": lambda a, b: a // b, "remui": lambda a, b: a % b, "ceildivui": lambda a, b: -(-a // b)}.items()),
    *(_integer_case(f"arith.{op}", _unsigned, _exact(numpy), second=_amounts, types=types, name=f"arith.{op}{name}")
      for op, numpy in {"shli": lambda a, b: a << b, "shrui": lambda a, b: a >> b}.items()
      for name, types in {"": INTEGERS, "-i1": ("i1",)}.items()),
    _integer_case("arith.shrsi", lambda x: x, _exact(lambda a, b: a >> b), second=_amounts, types=INTEGERS),
    _integer_case("math.absi", _signed, np.abs, arity=1, types=INTEGERS),
    _integer_case("math.ctpop", _unsigned, _exact(int.bit_count), arity=1, types=INTEGERS),
    *(_case(f"math.{op}", [
        (_op(f"math.{op}", [e], e, lambda x, bits=8 * DTYPES[e].itemsize, zeros=zeros: np.array(
            [zeros(format(int(number), f"0{bits}b")) for number in _unsigned(x)], x.dtype), _values(e)), [e])
        for e in INTEGERS]) for op, zeros in {
            "ctlz": lambda bits: len(bits) - len(bits.lstrip("0")),
            "cttz": lambda bits: len(bits) - len(bits.rstrip("0"))}.items()),
    _integer_case("math.ipowi", _signed, _exact(pow), types=INTEGERS,
                  second=lambda e: np.array([0, 1, 2, 3, 9], DTYPES[e])),
)  # fmt: skip

_ORDERED = {"eq": np.equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal}


def _float_predicate(predicate: str) -> Function:
    def run(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        unordered = np.isnan(a) | np.isnan(b)
        if predicate in ("ord", "uno"):
            return ~unordered if predicate == "ord" else unordered
        compared = a != b if predicate[1:] == "ne" else _ORDERED[predicate[1:]](a, b)
        return compared & ~unordered if predicate[0] == "o" else compared | unordered

    return run


def _integer_predicate(predicate: str) -> Function:
    if predicate in ("eq", "ne"):
        return lambda a, b: (a == b) == (predicate == "eq")
    read = _signed if predicate[0] == "s" else _unsigned
    return lambda a, b: _ORDERED[predicate[1:]](read(a), read(b))


_COMPARISONS = (
    *(_case(f"arith.cmpf-{p}", [(_op("arith.cmpf", [e, e], "i1", _float_predicate(p), _values(e), _values(e),
                                     attributes=f" {p},"), [e, e]) for e in FLOATS])
      for p in "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split()),
    *(_case(f"arith.cmpi-{p}", [(_op("arith.cmpi", [e, e], "i1", _integer_predicate(p), _values(e), _values(e),
                                     attributes=f" {p},"), [e, e]) for e in ALL_INTEGERS])
      for p in "eq ne slt sle sgt sge ult ule ugt uge".split()),
    _case("arith.select", [(_op("arith.select", ["i1", e, e], e, lambda c, a, b: np.where(c, a, b), np.array([True, False]),
                                _values(e), _values(e), types=e), ["i1", e, e]) for e in (*FLOATS, *ALL_INTEGERS)]),
)  # fmt: skip


def _cast(op: str, pairs: Sequence[tuple[str, str]], numpy: Callable[[np.ndarray, Any], np.ndarray],
          values: Function = _values, name: str = "") -> Case:  # fmt: skip
    """A change of type; ``numpy`` gets the operand and the dtype of the result."""
    return _case(name or op, [
        (_op(op, [source], result, lambda x, dtype=DTYPES[result]: numpy(x, dtype), values(source),
             types=f"{source} to {result}"), [source])
        for source, result in pairs])  # fmt: skip


def _bits_widened(read: Function) -> Callable[[np.ndarray, Any], np.ndarray]:
    return lambda x, dtype: _low_bits(read(x), dtype)


def _whole_numbers(element: str) -> np.ndarray:
    """Floats that every integer type can hold, with a fraction to cut off."""
    return np.array([0.0, -0.0, 1.0, 1.99, 3.5, 100.25, 127.0], DTYPES[element])


def _wider(types: Sequence[str]) -> list[tuple[str, str]]:
    return [(a, b) for place, a in enumerate(types) for b in types[place + 1 :]]


_STORED = ("i1", "i8", "i16", "i32", "i64")
_CASTS = (
    _cast("arith.extsi", _wider(_STORED), _bits_widened(_signed)),
    _cast("arith.extui", _wider(_STORED), _bits_widened(_unsigned)),
    _cast("arith.trunci", [(b, a) for a, b in _wider(_STORED)], _bits_widened(_unsigned)),
    _cast("arith.index_cast", [(e, "index") for e in _STORED] + [("index", e) for e in _STORED], _bits_widened(_signed)),
    _cast("arith.index_castui", [(e, "index") for e in _STORED] + [("index", e) for e in _STORED[1:]],
          _bits_widened(_unsigned)),
    _cast("arith.index_castui", [("index", "i1")], _bits_widened(_unsigned), name="arith.index_castui-to-i1"),
    _cast("arith.sitofp", list(product(_STORED[1:], FLOATS)), lambda x, dtype: _signed(x).astype(dtype)),
    _cast("arith.sitofp", [("i1", e) for e in FLOATS], lambda x, dtype: _signed(x).astype(dtype),
          name="arith.sitofp-of-i1"),
    _cast("arith.uitofp", list(product(_STORED, FLOATS)), lambda x, dtype: _unsigned(x).astype(dtype)),
    _cast("arith.fptosi", list(product(FLOATS, _STORED[1:])), lambda x, dtype: x.astype(dtype), _whole_numbers),
    _cast("arith.fptoui", list(product(FLOATS, _STORED[1:])), lambda x, dtype: x.astype(dtype), _whole_numbers),
    _cast("arith.extf", [("f32", "f64")], lambda x, dtype: x.astype(dtype)),
    _cast("arith.truncf", [("f64", "f32")], lambda x, dtype: x.astype(dtype)),
    _cast("arith.bitcast", [("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64")],
          lambda x, dtype: x.view(dtype)),
)  # fmt: skip

CASES = (*_FLOAT_OPS, *_INTEGER_OPS, *_COMPARISONS, *_CASTS)
