"""``affine.apply`` on scalars: an index computed from other indices."""

from collections.abc import Sequence
from typing import Any

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.importing.read_body import Unsupported
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression
from ipu_mlir.runtime.translator.statements.iota import INDEX


def affine_apply(affine_map: Any, operands: Sequence[Expression]) -> Expression:
    """The one result of ``affine_map`` of ``operands``: dimensions, then symbols."""
    return affine_value(affine_map.results[0], operands[: affine_map.n_dims], operands[affine_map.n_dims :])


def affine_value(expr: Any, dims: Sequence[Expression], symbols: Sequence[Expression]) -> Expression:
    """The value of an affine expression. ``mod`` and ``floordiv`` round down, as NumPy's do.

    Raises:
        Unsupported: a kind of affine expression that MLIR did not have when this was written.
    """
    match expr:
        case ir.AffineDimExpr():
            return dims[expr.position]
        case ir.AffineSymbolExpr():
            return symbols[expr.position]
        case ir.AffineConstantExpr():
            return Const.of(expr.value, INDEX)
    calls = (
        (ir.AffineAddExpr, "add"),
        (ir.AffineMulExpr, "multiply"),
        (ir.AffineModExpr, "remainder"),
        (ir.AffineFloorDivExpr, "floor_divide"),
        (ir.AffineCeilDivExpr, "ceil_divide"),
    )
    for kind, call in calls:
        if isinstance(expr, kind):
            operands = tuple(affine_value(side, dims, symbols) for side in (expr.lhs, expr.rhs))
            return Apply(INDEX, call, operands)
    raise Unsupported(f"the affine expression {expr} is not known")
