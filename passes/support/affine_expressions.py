"""Index expressions: the loops that they name, what they are at points of the loops, and as ops."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream

_FUNCTIONS: tuple[tuple[type, Any], ...] = (
    (ir.AffineAddExpr, np.add),
    (ir.AffineMulExpr, np.multiply),
    (ir.AffineFloorDivExpr, np.floor_divide),
    (ir.AffineModExpr, np.remainder),
    (ir.AffineCeilDivExpr, lambda a, b: -(-a // b)),
)


def as_it_is(expression: Any) -> Any:
    """A sum, product or composition of expressions in the class of what it was folded to.

    The bindings call 1 + 1 a sum, too, and end the process when they are asked for its parts.
    """
    return expression.maybe_downcast()


def loops_in(expression: Any) -> frozenset[int]:
    """The loops that ``expression`` names."""
    if isinstance(expression, ir.AffineDimExpr):
        return frozenset((expression.position,))
    if isinstance(expression, ir.AffineConstantExpr):
        return frozenset()
    return loops_in(expression.lhs) | loops_in(expression.rhs)


def values_at(expression: Any, points: Sequence[Any]) -> Any:
    """The value of ``expression`` where the loops are at ``points``: one number, or one array, per loop."""
    if isinstance(expression, ir.AffineDimExpr):
        return points[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return np.int64(expression.value)
    function = next(function for kind, function in _FUNCTIONS if isinstance(expression, kind))
    return function(values_at(expression.lhs, points), values_at(expression.rhs, points))


def without(expression: Any, fixed: frozenset[int]) -> tuple[dict[int, int], Any] | None:
    """``expression`` as the factors of the loops that are not ``fixed``, and what is added to that.

    None where it is no sum of multiples of loops that are not fixed and of anything that only fixed loops are in.
    """
    if loops_in(expression) <= fixed:
        return {}, expression
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position: 1}, ir.AffineExpr.get_constant(0)
    if isinstance(expression, ir.AffineAddExpr):
        left, right = without(expression.lhs, fixed), without(expression.rhs, fixed)
        if left is None or right is None:
            return None
        loops = sorted({*left[0], *right[0]})
        factors = {loop: left[0].get(loop, 0) + right[0].get(loop, 0) for loop in loops}
        return {loop: factor for loop, factor in factors.items() if factor}, as_it_is(left[1] + right[1])
    if isinstance(expression, ir.AffineMulExpr) and isinstance(expression.rhs, ir.AffineConstantExpr):
        scaled, factor = without(expression.lhs, fixed), expression.rhs.value
        if scaled is not None and factor:
            return {loop: factor * each for loop, each in scaled[0].items()}, as_it_is(scaled[1] * factor)
    return None


def applied(expression: Any, loops: Sequence[ir.Value]) -> ir.Value:
    """``expression`` where the loops are at the values ``loops``, at the current insertion point."""
    return upstream("affine").AffineApplyOp(ir.AffineMap.get(len(loops), 0, [expression]), list(loops)).result
