"""Indexes that are linear in loops, as far as they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from ipu_mlir.runtime.translator.array_ir.expression import Apply, Const, Expression, Read, apply
from ipu_mlir.runtime.translator.array_ir.iota import numbers


@dataclass(frozen=True)
class Linear:
    """An index as ``constant + sum(coefficients[l] * d_l) + rest``; ``rest`` is the part that depends on data."""

    coefficients: tuple[int, ...]
    constant: int
    rest: Expression | None

    def span(self, extents: Sequence[int]) -> tuple[int, int]:
        """The lowest and the highest value that the loops give it."""
        reach = [c * (n - 1) for c, n in zip(self.coefficients, extents, strict=True)]
        return self.constant + sum(min(0, r) for r in reach), self.constant + sum(max(0, r) for r in reach)


def linear_part(index: Expression, rank: int) -> Linear:
    """``index`` with what is linear in ``rank`` loops taken apart from the rest."""
    none = (0,) * rank
    match index:
        case Const():
            return Linear(none, int(index.value), None)
        case Read() if index.access.buffer is numbers(index.access.buffer.elements):
            return Linear(index.access.strides, index.access.offset, None)
        case Apply(call="add" | "subtract" as call):
            a, b = (linear_part(arg, rank) for arg in index.args)
            sign = 1 if call == "add" else -1
            terms = tuple(x + sign * y for x, y in zip(a.coefficients, b.coefficients, strict=True))
            return Linear(terms, a.constant + sign * b.constant, _sum(a.rest, b.rest, call))
        case Apply(call="multiply"):
            for scaled, factor in (index.args, index.args[::-1]):
                if isinstance(factor, Const):
                    part, k = linear_part(scaled, rank), int(factor.value)
                    rest = None if part.rest is None else apply("multiply", part.rest, factor)
                    return Linear(tuple(k * c for c in part.coefficients), k * part.constant, rest)
    return Linear(none, 0, index)


def _sum(a: Expression | None, b: Expression | None, call: str) -> Expression | None:
    if b is None:
        return a
    if a is None:
        return b if call == "add" else apply("negative", b)
    return apply(call, a, b)
