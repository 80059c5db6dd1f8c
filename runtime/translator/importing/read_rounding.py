"""From ``ipu.noise``, ``ipu.round``, ``ipu.saturate`` and ``ipu.is_sound`` to expressions."""

from collections.abc import Callable, Mapping

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.importing.narrow_floats import not_rounded
from ipu_mlir.runtime.translator.importing.scalar_lowerings import negated
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, apply, bits, cast
from ipu_mlir.runtime.translator.statements.types import narrow_float

BOOL = np.dtype(np.bool_)
F32, I32, U32 = np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.uint32)

Values = Mapping[ir.Value, Expression]

_LARGEST = {"f16": 65504.0, "bf16": float.fromhex("0x1.fep127")}
_CUT_OFF = {"f16": 13, "bf16": 16}
"""The bits that f32 has more."""
_GROWING = frozenset(f"math.{name}" for name in ("exp", "exp2", "expm1", "sinh", "cosh"))
"""What is infinite in f32 for finite operands only because it is too large."""
_POLES = frozenset(f"math.{name}" for name in ("rsqrt", "log", "log2", "log10", "log1p", "atanh", "powf", "fpowi"))


def _noise(op: ir.Operation, values: Values) -> Expression:
    key, index = (bits(cast(values[operand], I32), U32) for operand in op.operands)
    x = apply("add", key, apply("multiply", index, Const.of(0x9E3779B9, U32)))
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = apply("multiply", _folded(x, shift), Const.of(factor, U32))
    return bits(_folded(x, 16), I32)


def _folded(x: Expression, shift: int) -> Expression:
    return apply("bitwise_xor", x, apply("right_shift", x, Const.of(shift, U32)))


def _round(op: ir.Operation, values: Values) -> Expression:
    name = narrow_float(op.results[0].type)
    assert name is not None, "the verifier holds it to f16 and bf16"
    source, noise = (values[operand] for operand in op.operands)
    exact, call = not_rounded(source)
    if call is None:
        return source
    x = cast(exact, F32)
    mask = (1 << _CUT_OFF[name]) - 1
    part = apply("bitwise_and", noise, Const.of(mask, I32))
    rounded = _cut_off(x, part, mask)
    if name == "f16":
        least = apply("copysign", Const.of(2.0**-14, F32), x)  # below, a step is as large as there
        small = apply("subtract", _cut_off(apply("add", x, least), part, mask), least)
        is_small = _compare("less", apply("absolute", x), 2.0**-14)
        rounded = Apply(F32, "select", (is_small, apply("copysign", small, x), rounded))
    rounded = Apply(F32, "select", (Apply(BOOL, "isfinite", (x,)), rounded, x))
    return _with_overflow(op, values, rounded, x, name)


def _cut_off(x: Expression, noise: Expression, mask: int) -> Expression:
    moved = apply("add", bits(x, I32), noise)
    return bits(apply("bitwise_and", moved, Const.of(~mask, I32)), F32)


def _saturate(op: ir.Operation, values: Values) -> Expression:
    name = narrow_float(op.results[0].type)
    assert name is not None, "the verifier holds it to f16 and bf16"
    source = values[op.operands[0]]
    exact, call = not_rounded(source)
    return source if call is None else _with_overflow(op, values, source, cast(exact, F32), name)


def _with_overflow(op: ir.Operation, values: Values, rounded: Expression, x: Expression, name: str) -> Expression:
    overflow, largest = ir.StringAttr(op.attributes["overflow"]).value, _LARGEST[name]
    is_beyond = _compare("greater", apply("absolute", rounded), largest)
    if overflow == "infinity":
        infinity = apply("copysign", Const.of(np.inf, F32), x)
        return rounded if name == "bf16" else Apply(F32, "select", (is_beyond, infinity, rounded))
    made = op.operands[0].owner.operation
    number = values[made.operands[0]] if made.name in _GROWING else x
    beyond = Const.of(np.nan, F32) if overflow == "nan" else apply("copysign", Const.of(largest, F32), x)
    is_overflow = Apply(BOOL, "logical_and", (is_beyond, Apply(BOOL, "isfinite", (number,))))
    return Apply(F32, "select", (is_overflow, beyond, rounded))


def _is_sound(op: ir.Operation, values: Values) -> Expression:
    exception, source = ir.StringAttr(op.attributes["exception"]).value, op.operands[0]
    value = values[source]
    made = None if isinstance(source.owner, ir.Block) else source.owner.operation
    floats = [] if made is None else [values[each] for each in made.operands if isinstance(each.type, ir.FloatType)]
    broken: list[Expression]
    if exception == "inv":
        broken = [Apply(BOOL, "isnan", (value,)), *(negated(Apply(BOOL, "isnan", (each,))) for each in floats)]
    elif exception == "oflo":
        broken = [Apply(BOOL, "isinf", (value,)), *(Apply(BOOL, "isfinite", (each,)) for each in floats)]
        if made is not None and made.name == "arith.divf":
            broken.append(Apply(BOOL, "not_equal", (floats[1], Const.of(0, floats[1].dtype))))
        elif made is not None and made.name in _POLES:
            broken.append(_is_no_pole(made.name, floats))
    elif made is not None and made.name == "arith.divf":
        zero = Const.of(0, floats[1].dtype)
        is_number = [Apply(BOOL, "isfinite", (floats[0],)), Apply(BOOL, "not_equal", (floats[0], zero))]
        broken = [Apply(BOOL, "equal", (floats[1], zero)), *is_number]
    elif made is not None and made.name in _POLES:
        broken = [Apply(BOOL, "isinf", (value,)), *(Apply(BOOL, "isfinite", (each,)) for each in floats)]
        broken.append(negated(_is_no_pole(made.name, floats)))
    else:
        return Const.of(True, BOOL)
    found = broken[0]
    for each in broken[1:]:
        found = Apply(BOOL, "logical_and", (found, each))
    return negated(found)


def _is_no_pole(name: str, floats: list[Expression]) -> Expression:
    """True where an infinite result is one that is too large: of a power, whose base is not 0."""
    if name in ("math.powf", "math.fpowi"):
        return Apply(BOOL, "not_equal", (floats[0], Const.of(0, floats[0].dtype)))
    return Const.of(False, BOOL)


def _compare(call: str, a: Expression, number: float) -> Expression:
    return Apply(BOOL, call, (a, Const.of(number, F32)))


READERS: dict[str, Callable[[ir.Operation, Values], Expression]] = {
    "ipu.noise": _noise,
    "ipu.round": _round,
    "ipu.saturate": _saturate,
    "ipu.is_sound": _is_sound,
}
