"""What the calls of NumPy that generated source makes are in MLIR: the same bits, on single numbers and on vectors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32, F64, Arithmetic
from ipu_mlir.runtime.translator.kernels.scalar.code import NoKernel, Value, type_text
from ipu_mlir.runtime.translator.kernels.scalar.functions import FUNCTIONS
from ipu_mlir.runtime.translator.kernels.scalar.wide_functions import FUNCTIONS_BY_F64, FUNCTIONS_OF_F64

_FUNCTIONS = {F32: {**FUNCTIONS_BY_F64, **FUNCTIONS}, F64: FUNCTIONS_OF_F64}

Rule = Callable[[Arithmetic, np.dtype[Any], list[Value]], Value]


def apply_call(ops: Arithmetic, call: str, dtype: np.dtype[Any], args: Sequence[Value]) -> Value:
    """``call`` of ``args``, of ``dtype``.

    Raises:
        NoKernel: there is no rule for it, or none for such numbers.
    """
    if call in (functions := _FUNCTIONS.get(dtype, {})):
        return functions[call](ops, *args)
    rule = _RULES.get(call)
    if rule is None:
        raise NoKernel(f"{call} of {dtype} has no form in kernels")
    result = rule(ops, dtype, list(args))
    if result.dtype != dtype:
        raise NoKernel(f"{call} gives {result.dtype}, not {dtype}")
    return result


def _by_kind(floats: str | None, integers: str | None, bools: str | None = None) -> Rule:
    """One operation of ``arith`` or ``math`` per kind of number."""

    def rule(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
        kind = args[0].dtype.kind
        name = floats if kind == "f" else bools if kind == "b" else integers
        if name is None:
            raise NoKernel(f"{args[0].dtype} are not computed with so")
        return ops.op(name, *args)

    return rule


def _comparison(floats: str, integers: str) -> Rule:
    def rule(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
        kind = args[0].dtype.kind
        if kind == "f":
            return ops.compare(floats, *args)
        order = "" if integers in ("eq", "ne") else "s" if kind == "i" else "u"
        return ops.compare(order + integers, *args)

    return rule


def _extreme(ordered: str, integers: str, nan_wins: bool) -> Rule:
    """The larger or the smaller of two, of two zeros the second; a NaN wins or loses."""

    def rule(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
        a, b = ops.together(args)
        if a.dtype.kind == "b":
            return ops.op("arith.ori" if ordered == "ogt" else "arith.andi", a, b)
        if a.dtype.kind != "f":
            return ops.op(f"arith.{integers}{'u' if a.dtype.kind == 'u' else 's'}i", a, b)
        found = ops.select(ops.compare(ordered, a, b), a, b)
        kept = a if nan_wins else b
        return ops.select(ops.is_nan(kept), a, found)

    return rule


def _ordered_zeros(larger: bool) -> Rule:
    """The larger or the smaller of two floats, -0 below 0; NaN if either is.

    The processor gives the second of two that are equal or of which one is NaN, so both orders differ there alone.
    """

    def rule(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
        a, b = ops.together(args)
        if a.dtype.kind != "f":
            raise NoKernel("zeros have signs in floats only")
        found = [ops.select(ops.compare("ogt" if larger else "olt", x, y), x, y) for x, y in ((a, b), (b, a))]
        bits = [ops.bits(each, np.dtype(f"i{a.dtype.itemsize}")) for each in found]
        if not larger:  # all bits of a NaN stay
            return ops.bits(ops.op("arith.ori", *bits), a.dtype)
        zero = ops.bits(ops.op("arith.andi", *bits), a.dtype)
        return ops.select(ops.compare("uno", a, b), ops.constant(np.nan, a), zero)

    return rule


def _clip(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    """As NumPy does it: ``x`` where it lies between the bounds or equals one, or is NaN."""
    x, low, high = ops.together(args)
    if x.dtype.kind == "b":
        raise NoKernel("truth values are not clipped")
    is_float, order = x.dtype.kind == "f", "u" if x.dtype.kind == "u" else "s"
    for bound, predicate in ((low, "ge"), (high, "le")):
        keeps = ops.compare(("u" if is_float else order) + predicate, x, bound)
        x = ops.select(keeps, x, bound)
    return x


def _floor_divide(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    quotient, remainder, _, _ = _divided(ops, args)
    if quotient.dtype.kind == "u":
        return quotient
    zero = ops.constant(0, quotient)
    a, b = args
    down = ops.both(
        ops.compare("ne", remainder, zero),
        ops.op("arith.xori", ops.compare("slt", a, zero), ops.compare("slt", b, zero)),
    )
    return ops.select(down, ops.op("arith.subi", quotient, ops.constant(1, quotient)), quotient)


def _ceil_divide(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    quotient, remainder, _, _ = _divided(ops, args)
    up = ops.compare("ne", remainder, ops.constant(0, remainder))
    if quotient.dtype.kind == "i":
        zero = ops.constant(0, quotient)
        signs = ops.op("arith.xori", ops.compare("slt", args[0], zero), ops.compare("sge", args[1], zero))
        up = ops.both(up, signs)
    return ops.select(up, ops.op("arith.addi", quotient, ops.constant(1, quotient)), quotient)


def _remainder(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    """With the sign of the divisor."""
    _, remainder, _, _ = _divided(ops, args)
    if remainder.dtype.kind == "u":
        return remainder
    zero = ops.constant(0, remainder)
    signs = ops.op("arith.xori", ops.compare("slt", remainder, zero), ops.compare("slt", args[1], zero))
    other = ops.both(ops.compare("ne", remainder, zero), signs)
    return ops.select(other, ops.op("arith.addi", remainder, args[1]), remainder)


def _divided(ops: Arithmetic, args: list[Value]) -> tuple[Value, Value, Value, Value]:
    if args[0].dtype.kind not in "iu":
        raise NoKernel(f"{args[0].dtype} are not divided so")
    return ops.divided(*args)


def _shift(right: bool) -> Rule:
    def rule(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
        if args[0].dtype.kind not in "iu":
            raise NoKernel("integers have bits to shift")
        return ops.shift(args[0], args[1], right)

    return rule


def _negative(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    (a,) = args
    if a.dtype.kind == "b":
        raise NoKernel("truth values have no sign")
    return ops.op("arith.negf", a) if a.dtype.kind == "f" else ops.op("arith.subi", ops.constant(0, a), a)


def _absolute(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    (a,) = args
    if a.dtype.kind == "f":
        return ops.op("math.absf", a)
    if a.dtype.kind != "i":
        return a
    zero = ops.constant(0, a)
    return ops.select(ops.compare("slt", a, zero), ops.op("arith.subi", zero, a), a)


def _invert(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    (a,) = args
    if a.dtype.kind == "f":
        raise NoKernel("floats have no bits to turn")
    return ops.op("arith.xori", a, ops.constant(True if a.dtype.kind == "b" else -1, a))


def _logical_not(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    if args[0].dtype.kind != "b":
        raise NoKernel("numbers are not negated as truth values")
    return _invert(ops, dtype, args)


def _select(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    return ops.select(*args)


def _same(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    return args[0]


def _rounded(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    """Halves away from zero."""
    (a,) = args
    whole = ops.op("math.trunc", a)
    far = ops.compare("oge", ops.op("math.absf", ops.op("arith.subf", a, whole)), ops.constant(0.5, a))
    step = ops.select(far, ops.op("math.copysign", ops.constant(1, a), a), ops.constant(0, a))
    return ops.op("math.copysign", ops.op("arith.addf", whole, step), a)


def _is_finite(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    (a,) = args
    return ops.compare("olt", ops.op("math.absf", a), ops.constant(np.inf, a))


def _is_infinite(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    (a,) = args
    return ops.compare("oeq", ops.op("math.absf", a), ops.constant(np.inf, a))


def _is_nan(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    return ops.is_nan(args[0])


def _saturated(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    return ops.saturated(args[0], dtype)


def _cast(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    return ops.cast(args[0], dtype)


def _bits(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    return ops.bits(args[0], dtype)


_F16 = np.dtype(np.float16)
_I16 = np.dtype(np.int16)


def _round_to_f16(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    if args[0].dtype != F32:
        raise NoKernel("f64 is rounded to f16 in two steps")
    return ops.convert("arith.extf", ops.convert("arith.truncf", args[0], _F16), F32)


def _f16_of_bits(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    return ops.convert("arith.extf", ops.bits(args[0], _F16), F32)


def _bits_of_f16(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    return ops.bits(ops.convert("arith.truncf", args[0], _F16), _I16)


def _round_to_bf16(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    """To the upper half of the bits, ties to even; of a NaN only the sign stays."""
    (a,) = args
    if a.dtype != F32:
        raise NoKernel("f64 is rounded to bf16 in two steps")
    number = ops.bits(a, np.dtype(np.int32))
    sixteen = ops.constant(16, number)
    last = ops.both(ops.op("arith.shrui", number, sixteen), ops.constant(1, number))
    rounded = ops.op("arith.addi", number, ops.op("arith.addi", last, ops.constant(0x7FFF, number)))
    sign = ops.both(number, ops.constant(-0x80000000, number))
    rounded = ops.select(ops.is_nan(a), ops.op("arith.ori", sign, ops.constant(0x7FC00000, number)), rounded)
    return ops.bits(ops.both(rounded, ops.constant(-0x10000, number)), F32)


def _bf16_of_bits(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    wide = ops.convert("arith.extui", args[0], np.dtype(np.int32))
    return ops.bits(ops.op("arith.shli", wide, ops.constant(16, wide)), F32)


def _bits_of_bf16(ops: Arithmetic, dtype: np.dtype[Any], args: list[Value]) -> Value:
    number = ops.bits(_round_to_bf16(ops, dtype, args), np.dtype(np.int32))
    return ops.convert("arith.trunci", ops.op("arith.shrui", number, ops.constant(16, number)), _I16)


_RULES: dict[str, Rule] = {
    "add": _by_kind("arith.addf", "arith.addi"),
    "subtract": _by_kind("arith.subf", "arith.subi"),
    "multiply": _by_kind("arith.mulf", "arith.muli", "arith.andi"),
    "divide": _by_kind("arith.divf", None),
    "floor_divide": _floor_divide,
    "ceil_divide": _ceil_divide,
    "divide_to_zero": lambda ops, dtype, args: _divided(ops, args)[0],
    "fmod": lambda ops, dtype, args: _divided(ops, args)[1],
    "remainder": _remainder,
    "maximum": _extreme("ogt", "max", nan_wins=True),
    "minimum": _extreme("olt", "min", nan_wins=True),
    "fmax": _extreme("ogt", "max", nan_wins=False),
    "fmin": _extreme("olt", "min", nan_wins=False),
    "larger": _ordered_zeros(larger=True),
    "smaller": _ordered_zeros(larger=False),
    "clip": _clip,
    "equal": _comparison("oeq", "eq"),
    "not_equal": _comparison("une", "ne"),
    "less": _comparison("olt", "lt"),
    "less_equal": _comparison("ole", "le"),
    "greater": _comparison("ogt", "gt"),
    "greater_equal": _comparison("oge", "ge"),
    "bitwise_and": _by_kind(None, "arith.andi", "arith.andi"),
    "bitwise_or": _by_kind(None, "arith.ori", "arith.ori"),
    "bitwise_xor": _by_kind(None, "arith.xori", "arith.xori"),
    "logical_and": _by_kind(None, None, "arith.andi"),
    "logical_or": _by_kind(None, None, "arith.ori"),
    "logical_xor": _by_kind(None, None, "arith.xori"),
    "logical_not": _logical_not,
    "invert": _invert,
    "left_shift": _shift(right=False),
    "right_shift": _shift(right=True),
    "negative": _negative,
    "absolute": _absolute,
    "sqrt": _by_kind("math.sqrt", None),
    "floor": _by_kind("math.floor", None),
    "ceil": _by_kind("math.ceil", None),
    "trunc": _by_kind("math.trunc", None),
    "rint": _by_kind("math.roundeven", None),
    "copysign": _by_kind("math.copysign", None),
    "round_half_away": _rounded,
    "isnan": _is_nan,
    "isinf": _is_infinite,
    "isfinite": _is_finite,
    "select": _select,
    "select_bool": _select,
    "positive_bool": _same,
    "saturated_integer": _saturated,
    "cast": _cast,
    "bits": _bits,
    "round_to_f16": _round_to_f16,
    "f16_of_bits": _f16_of_bits,
    "bits_of_f16": _bits_of_f16,
    "round_to_bf16": _round_to_bf16,
    "bf16_of_bits": _bf16_of_bits,
    "bits_of_bf16": _bits_of_bf16,
}


def all_lanes(ops: Arithmetic, value: Value, call: str) -> Value:
    """All lanes of ``value``: halves with halves."""
    while value.lanes > 1:
        lanes = value.lanes // 2
        halves = []
        for offset in (0, lanes):
            kind = type_text(value.dtype, lanes) if lanes > 1 else f"vector<1x{type_text(value.dtype)}>"
            half = ops.code.value(
                f"vector.extract_strided_slice {value.name} {{offsets = [{offset}], sizes = [{lanes}], "
                f"strides = [1]}} : {value.type} to {kind}"
            )
            if lanes == 1:
                half = ops.code.value(f"vector.extract {half}[0] : {type_text(value.dtype)} from {kind}")
            halves.append(Value(half, value.dtype, lanes))
        value = apply_call(ops, call, value.dtype, halves)
    return value
