"""From scalar ops in the IR to expressions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.runtime.translator.expression import Apply, Const, Expression, bits
from ipu_mlir.runtime.translator.scalar_lowerings import LOWERINGS
from ipu_mlir.runtime.translator.scalar_ops import SCALAR_OPS
from ipu_mlir.runtime.translator.types import dtype_of, is_bf16, unsigned

BOOL = np.dtype(np.bool_)
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)

_EXACT = frozenset(
    f"{dialect}.{name}"
    for dialect, names in (
        ("arith", "constant select negf maximumf minimumf maxnumf minnumf"),
        ("math", "absf copysign ceil floor trunc round roundeven"),
    )
    for name in names.split()
)
"""Ops whose result is a bf16 if their operands are: nothing to round."""

_FROM_INTEGER = frozenset(["arith.sitofp", "arith.uitofp"])
_TO_FLOAT = _FROM_INTEGER | {"arith.truncf"}


class Unsupported(Exception):
    """The runtime has no meaning for an op; the text says which and why."""


def is_scalar_op(name: str) -> bool:
    """True for the ops that ``read_scalar_op`` understands."""
    return name == "arith.constant" or name in SCALAR_OPS or name in LOWERINGS


def read_scalar_op(op: ir.Operation, values: Mapping[ir.Value, Expression]) -> Expression:
    """The expression for the single result of ``op``.

    Raises:
        Unsupported: the op, or one of its types, has no entry in the tables.
    """
    if is_bf16(op.results[0].type) and op.name not in _EXACT:
        if op.name == "arith.bitcast" and not is_bf16(op.operands[0].type):
            return Apply(F32, "bf16_of_bits", (values[op.operands[0]],))
        if op.name in _FROM_INTEGER and op.operands[0].type.width == 64:
            integer = values[op.operands[0]]
            seen = bits(integer, unsigned(integer.dtype)) if op.name == "arith.uitofp" else integer
            return Apply(F32, "round_to_bf16", (Apply(F64, "odd_double", (seen,)),))
        rounds_in_f32 = op.name in _TO_FLOAT and not isinstance(op.operands[0].type, ir.F32Type)
        number = F64 if rounds_in_f32 else F32  # one rounding: the number before it is exact
        return Apply(F32, "round_to_bf16", (_read_scalar_op(op, values, number),))
    if op.name == "arith.bitcast" and is_bf16(op.operands[0].type) and not is_bf16(op.results[0].type):
        dtype = dtype_of(op.results[0].type)
        if dtype is None:
            raise Unsupported(f"values of type {op.results[0].type} are not supported")
        return Apply(dtype, "bits_of_bf16", (values[op.operands[0]],))
    return _read_scalar_op(op, values)


def _read_scalar_op(
    op: ir.Operation, values: Mapping[ir.Value, Expression], dtype: np.dtype[Any] | None = None
) -> Expression:
    result = dtype or dtype_of(op.results[0].type)
    if result is None:
        raise Unsupported(f"values of type {op.results[0].type} are not supported")
    if op.name == "arith.constant":
        return _constant(op.attributes["value"], result)
    operands = tuple(values[operand] for operand in op.operands)
    lowering = LOWERINGS.get(op.name)
    if lowering is not None:
        return lowering(operands, result, lambda name: op.attributes[name])
    entry = SCALAR_OPS.get(op.name)
    if entry is None:
        raise Unsupported("no NumPy call is known for it")
    if result == BOOL and entry.on_bool is not None:
        return Apply(result, entry.on_bool, operands)
    if entry.unsigned and result != BOOL:
        seen = tuple(bits(operand, unsigned(operand.dtype)) for operand in operands)
        return bits(Apply(seen[0].dtype, entry.call, seen), result)
    return Apply(result, entry.call, operands)


def _constant(attribute: ir.Attribute, dtype: np.dtype[Any]) -> Const:
    if isinstance(attribute, ir.BoolAttr | ir.FloatAttr):
        return Const.of(attribute.value, dtype)
    if isinstance(attribute, ir.IntegerAttr):
        if dtype == BOOL:
            return Const.of(attribute.value & 1, dtype)
        return Const(dtype, np.array(attribute.value).astype(dtype)[()])
    raise Unsupported(f"constants like {str(attribute)[:60]} are not supported")
