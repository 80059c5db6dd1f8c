"""From scalar ops in the IR to expressions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.numeric.narrow_floats import bits_dtype, bits_of, of_bits, round_to, smallest_normal
from ipu_mlir.runtime.translator.importing.narrow_floats import needs_rounding
from ipu_mlir.runtime.translator.importing.read_rounding import READERS
from ipu_mlir.runtime.translator.importing.scalar_lowerings import LOWERINGS
from ipu_mlir.runtime.translator.importing.scalar_ops import SCALAR_OPS
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, apply, bits
from ipu_mlir.runtime.translator.statements.types import dtype_of, narrow_float, unsigned

BOOL = np.dtype(np.bool_)
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)

_FROM_INTEGER = frozenset(["arith.sitofp", "arith.uitofp"])
_IN_F64 = frozenset(["arith.sitofp", "arith.uitofp", "math.fma"])
"""Ops whose exact value f32 may lack: to be rounded once, it is computed in f64."""


class Unsupported(Exception):
    """The runtime has no meaning for an op; the text says which and why."""


def is_scalar_op(name: str) -> bool:
    """True for the ops that ``read_scalar_op`` understands."""
    return name in ("arith.constant", "arith.bitcast") or name in READERS or name in SCALAR_OPS or name in LOWERINGS


def read_scalar_op(op: ir.Operation, values: Mapping[ir.Value, Expression]) -> Expression:
    """The expression for the single result of ``op``.

    Raises:
        Unsupported: the op, or one of its types, has no entry in the tables.
    """
    name = narrow_float(op.results[0].type) if op.results else None
    if op.name in READERS:
        return READERS[op.name](op, values)
    if op.name == "arith.bitcast":
        return _bitcast(op, values[op.operands[0]], name)
    if op.name == "math.isnormal" and (source := narrow_float(op.operands[0].type)) is not None:
        return _is_normal(values[op.operands[0]], source)
    if name is None or not needs_rounding(op, name):
        return _read_scalar_op(op, values)
    if op.name in _FROM_INTEGER and op.operands[0].type.width == 64:
        integer = values[op.operands[0]]
        seen = bits(integer, unsigned(integer.dtype)) if op.name == "arith.uitofp" else integer
        return Apply(F32, round_to(name), (Apply(F64, "odd_double", (seen,)),))
    from_f64 = op.name == "arith.truncf" and isinstance(op.operands[0].type, ir.F64Type)
    number = F64 if from_f64 or op.name in _IN_F64 else F32
    return Apply(F32, round_to(name), (_read_scalar_op(op, values, number),))


def _is_normal(value: Expression, source: str) -> Expression:
    """``value``, of the type called ``source``, is finite and no subnormal number of its type."""
    large = Apply(BOOL, "greater_equal", (apply("absolute", value), Const.of(smallest_normal(source), F32)))
    return Apply(BOOL, "logical_and", (Apply(BOOL, "isfinite", (value,)), large))


def _bitcast(op: ir.Operation, value: Expression, name: str | None) -> Expression:
    """The bits of ``value`` as the type of the result, which is called ``name`` if it is a narrow float."""
    source = narrow_float(op.operands[0].type)
    if source == name and source is not None:
        return value
    if source is not None:
        value = Apply(bits_dtype(source), bits_of(source), (value,))
    if name is not None:
        return Apply(F32, of_bits(name), (value,))
    dtype = dtype_of(op.results[0].type)
    if dtype is None:
        raise Unsupported(f"values of type {op.results[0].type} are not supported")
    return bits(value, dtype)


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
