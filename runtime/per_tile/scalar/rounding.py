"""``ipu.noise``, ``ipu.round``, ``ipu.saturate`` and ``ipu.is_sound``, as their definitions say.

The last three are about the operation that gives their operand: their functions take what that one takes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.scalar.element_types import dtype_of
from ipu_mlir.runtime.per_tile.scalar.narrow_floats import round_to
from ipu_mlir.runtime.per_tile.scalar.scalar_ops import exact_result

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

MODES = frozenset(f"ipu.{name}" for name in ("noise", "round", "saturate", "is_sound"))
"""The ops of bodies that ``function_of`` reads."""

_TYPES = {"f16": (10, -14, 65504.0), "bf16": (7, -126, float.fromhex("0x1.fep127"))}
"""Bits of the fraction, the lowest exponent of normal numbers, the largest number."""
_TOO_LARGE_IN_F32 = frozenset(f"math.{name}" for name in ("exp", "exp2", "expm1", "sinh", "cosh"))
_POLES = frozenset(f"math.{name}" for name in ("rsqrt", "log", "log2", "log10", "log1p", "atanh"))
_POWERS = ("math.powf", "math.fpowi")


def noise(key: Any, index: Any) -> Any:
    """Bits for an iteration.

    >>> int(noise(np.int32(0), np.int64(1)))
    33350994
    """
    x = (np.asarray(key).astype(np.int64) + np.asarray(index).astype(np.int64) * 0x9E3779B9).astype(np.uint32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return np.asarray(x ^ (x >> np.uint32(16))).view(np.int32)


def rounded_at_random(name: str, exact: Any, bits: Any) -> Array:
    """``exact`` as a number of the type: it is cut off, after the lowest ``bits`` of what is cut off were added.

    >>> up = rounded_at_random("f16", np.full(8192, 0.1, np.float32), np.arange(8192, dtype=np.int32)) > 0.1
    >>> float(np.mean(up).round(2))
    0.4
    """
    digits, lowest, _ = _TYPES[name]
    x = np.asarray(exact, np.float32)
    size = np.abs(x.astype(np.float64))
    exponent = np.maximum(np.frexp(np.where(np.isfinite(size), size, 1))[1] - 1, lowest)
    step, levels = np.ldexp(1.0, exponent - digits), 1 << (23 - digits)
    below = np.rint(size / step * levels) + (np.asarray(bits).astype(np.int64) & (levels - 1))
    return np.where(np.isfinite(x), np.copysign(np.floor(below / levels) * step, x), x).astype(np.float32)


def function_of(op: ir.OpView) -> tuple[Function, tuple[ir.Value, ...]]:
    """The function that ``op`` is, and the values that it takes: its own, and those of the op that it is about."""
    if op.operation.name == "ipu.noise":
        return noise, tuple(op.operands)
    source, *others = op.operands
    made = None if isinstance(source.owner, ir.Block) else source.owner
    exact = None if made is None else exact_result(made)
    if op.operation.name == "ipu.is_sound":
        exception = ir.StringAttr(op.attributes["exception"]).value
        return _sound(exception, made), (source, *(() if made is None else _floats(made)))
    if made is None or exact is None:
        return (lambda given, *_: given), tuple(op.operands)
    return _numbers(op, made.operation.name, exact), (*others, *made.operands)


def _floats(op: ir.OpView) -> list[ir.Value]:
    return [value for value in op.operands if isinstance(value.type, ir.FloatType)]


def _numbers(op: ir.OpView, made: str, exact: Function) -> Function:
    kind = op.results[0].type
    name, dtype, overflow = str(kind), dtype_of(kind), ir.StringAttr(op.attributes["overflow"]).value
    largest = _TYPES[name][2]
    is_random = op.operation.name == "ipu.round"

    def run(*given: Any) -> Array:
        bits, operands = (given[0], given[1:]) if is_random else (None, given)
        x = np.asarray(exact(*operands), np.float32)
        found = rounded_at_random(name, x, bits) if is_random else to_nearest(name, x)
        known = operands[0] if made in _TOO_LARGE_IN_F32 else x
        is_beyond = np.abs(found) > largest
        if overflow == "infinity":
            found = np.where(is_beyond, np.copysign(np.float32(np.inf), x), found)
        else:
            beyond = np.copysign(np.float32(largest), x) if overflow == "clip" else np.float32(np.nan)
            found = np.where(is_beyond & np.isfinite(np.asarray(known, np.float32)), beyond, found)
        return np.asarray(found).astype(dtype)

    return run


def to_nearest(name: str, x: Array) -> Array:
    """The nearest number of the type, as float32."""
    return np.asarray(x.astype(np.float16).astype(np.float32) if name == "f16" else round_to(name, x))


def _sound(exception: str, made: ir.OpView | None) -> Function:
    name = "" if made is None else made.operation.name

    def run(value: Any, *floats: Any) -> Array:
        finite: Any = np.True_
        for each in floats:
            finite = finite & np.isfinite(each)
        if exception == "inv":
            broken = np.isnan(value)
            for each in floats:
                broken = broken & ~np.isnan(each)
            return np.asarray(~broken)
        at_pole: Any = False
        if name == "arith.divf":
            at_pole = (floats[1] == 0) & (floats[0] != 0)
        elif name in _POLES:
            at_pole = np.isinf(value)
        elif name in _POWERS:
            at_pole = np.isinf(value) & (floats[0] == 0)
        if exception == "div0":
            return np.asarray(~(np.asarray(at_pole, np.bool_) & finite))
        return np.asarray(~(np.isinf(value) & finite & ~np.asarray(at_pole, np.bool_)))

    return run
