"""Indexing maps as numbers: one coefficient per loop and a constant, per result."""

from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.support.bindings import ir


@dataclass(frozen=True)
class FloorDiv:
    """``loop floordiv divisor``, times ``factor``: the only non-linear term that the runtime knows."""

    loop: int
    divisor: int
    factor: int


@dataclass(frozen=True)
class LinearForm:
    """``constant + sum(coefficients[l] * d_l) + floor divisions``."""

    coefficients: tuple[int, ...]
    constant: int = 0
    divisions: tuple[FloorDiv, ...] = ()

    def plain_dim(self) -> int | None:
        """The loop, if this is exactly one loop."""
        if self.constant or self.divisions or sum(map(abs, self.coefficients)) != 1:
            return None
        return self.coefficients.index(1) if 1 in self.coefficients else None


class NotLinear(Exception):
    """An indexing map that is no sum of multiples of loops."""


def linear_forms(affine_map: Any) -> tuple[LinearForm, ...]:
    """The results of ``affine_map`` as linear forms.

    Raises:
        NotLinear: a result uses ``mod``, ``ceildiv``, a product of loops, or divides a sum.
    """
    return tuple(_form(result, affine_map.n_dims) for result in affine_map.results)


def _form(expr: Any, dims: int) -> LinearForm:
    zero = (0,) * dims
    match expr:
        case ir.AffineDimExpr():
            return LinearForm((*zero[: expr.position], 1, *zero[expr.position + 1 :]))
        case ir.AffineConstantExpr():
            return LinearForm(zero, expr.value)
        case ir.AffineAddExpr():
            a, b = _form(expr.lhs, dims), _form(expr.rhs, dims)
            total = tuple(x + y for x, y in zip(a.coefficients, b.coefficients, strict=True))
            return LinearForm(total, a.constant + b.constant, a.divisions + b.divisions)
        case ir.AffineMulExpr():
            return _scaled(_form(expr.lhs, dims), _form(expr.rhs, dims), expr)
        case ir.AffineFloorDivExpr():
            loop, divisor = _form(expr.lhs, dims).plain_dim(), _form(expr.rhs, dims)
            if loop is not None and not any(divisor.coefficients) and divisor.constant > 0:
                return LinearForm(zero, 0, (FloorDiv(loop, divisor.constant, 1),))
    raise NotLinear(f"the index {expr} is not a sum of multiples of loops")


def _scaled(a: LinearForm, b: LinearForm, expr: Any) -> LinearForm:
    if any(a.coefficients) or a.divisions:
        a, b = b, a
    if any(a.coefficients) or a.divisions:
        raise NotLinear(f"the index {expr} is a product of loops")
    k = a.constant
    divisions = tuple(FloorDiv(d.loop, d.divisor, d.factor * k) for d in b.divisions)
    return LinearForm(tuple(k * c for c in b.coefficients), k * b.constant, divisions)
