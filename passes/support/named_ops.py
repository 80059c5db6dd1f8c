"""Named linalg ops that passes make often.

``upstream("linalg").copy(...)`` does the same, but interprets the definition of the op each time: half a millisecond.
"""

from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream


def copy_into(source: ir.Value, dest: ir.Value) -> ir.Operation:
    """``linalg.copy``, at the current insertion point; its result is the new value of ``dest`` if that is a tensor."""
    return _with_body(upstream("linalg").CopyOp(_results(dest), [source], [dest]))


def fill_with(value: ir.Value, dest: ir.Value) -> ir.Operation:
    """``linalg.fill`` of ``dest`` with a scalar, at the current insertion point."""
    return _with_body(upstream("linalg").FillOp(_results(dest), [value], [dest]))


def _results(dest: ir.Value) -> list[ir.Type]:
    return [dest.type] if isinstance(dest.type, ir.RankedTensorType) else []


def _with_body(op: Any) -> ir.Operation:
    upstream("linalg").fill_builtin_region(op.operation)
    return op.operation
