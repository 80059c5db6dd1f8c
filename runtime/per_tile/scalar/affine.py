"""Affine expressions of indexing maps and ``affine`` operations, evaluated on arrays of indices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir

Indices = np.ndarray[Any, np.dtype[np.int64]]


def evaluate(expression: ir.AffineExpr, loops: list[Indices], symbols: Sequence[Indices] = ()) -> Indices:
    """``expression`` at the loop indices ``loops``, arrays that broadcast with each other; constants have rank 0.

    Division and remainder round towards minus infinity, as affine maps define them.
    """
    if isinstance(expression, ir.AffineDimExpr):
        return loops[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return symbols[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return np.asarray(expression.value, np.int64)
    if isinstance(expression, ir.AffineBinaryExpr):
        left, right = (evaluate(side, loops, symbols) for side in (expression.lhs, expression.rhs))
        if isinstance(expression, ir.AffineAddExpr):
            return np.add(left, right)
        if isinstance(expression, ir.AffineMulExpr):
            return np.multiply(left, right)
        if isinstance(expression, ir.AffineFloorDivExpr):
            return np.floor_divide(left, right)
        if isinstance(expression, ir.AffineCeilDivExpr):
            return np.negative(np.floor_divide(np.negative(left), right))
        if isinstance(expression, ir.AffineModExpr):
            return np.mod(left, right)
    raise AssertionError(f"no affine expression is left over, but found {expression}")


def loops_in(expression: ir.AffineExpr) -> set[int]:
    """The loops that ``expression`` depends on."""
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position}
    if isinstance(expression, ir.AffineBinaryExpr):
        return loops_in(expression.lhs) | loops_in(expression.rhs)
    return set()
