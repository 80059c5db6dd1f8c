"""From where to where integers in the IR can lie, as far as constants and the bounds of loops say."""

from collections.abc import Callable
from operator import add, mul, sub

from ipu_mlir.dialects.analysis.control_flow import counter_of
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir

Range = tuple[int, int]
"""The lowest and the highest value; both belong to it."""

_DEEPEST = 32  # ops between a value and what it is computed from that are looked at


class IndexRanges:
    """The ranges of scalar integers, each found once; all that their type can hold where nothing is known."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, Range] = {}

    def of(self, value: ir.Value, depth: int = 0) -> Range:
        """The range of ``value``, of an integer type or index, read as signed numbers."""
        if value not in self._known:
            everything = _everything(value.type)
            found = self._computed(value, depth) if depth < _DEEPEST else None
            fits = found is not None and everything[0] <= found[0] and found[1] <= everything[1]
            self._known[value] = found if fits and found is not None else everything
        return self._known[value]

    def _computed(self, value: ir.Value, depth: int) -> Range | None:
        """The range that the op that makes ``value`` gives; one beyond the type means that numbers may wrap around."""
        op = defining_op(value)
        if op is None:
            return self._counter(value, depth)
        if op.name == "arith.constant":
            attribute = op.attributes["value"]
            return (attribute.value,) * 2 if isinstance(attribute, ir.IntegerAttr) else None
        if op.name == "affine.apply":
            return self._affine(op, depth)
        if op.name == "arith.select":
            one, other = (self.of(operand, depth + 1) for operand in list(op.operands)[1:])
            return min(one[0], other[0]), max(one[1], other[1])
        if op.name in ("arith.index_cast", "arith.extsi"):
            return self.of(op.operands[0], depth + 1)
        if op.name in ("arith.index_castui", "arith.extui"):
            low, high = self.of(op.operands[0], depth + 1)
            return (low, high) if low >= 0 else None
        if op.name in _COMBINED:
            return _COMBINED[op.name](*(self.of(operand, depth + 1) for operand in op.operands))
        return None

    def _counter(self, value: ir.Value, depth: int) -> Range | None:
        """That of the counter of an ``scf.for``."""
        counted = counter_of(value.owner)
        if counted is None or value != counted[0]:
            return None
        loop = counted[1]
        start, end, step = (self.of(bound, depth + 1) for bound in list(loop.operands)[:3])
        if "unsignedCmp" in loop.attributes and (start[0] < 0 or end[0] < 0):
            return None
        if start[0] == start[1] and step[0] == step[1] > 0 and end[1] > start[0]:
            return start[0], start[0] + (end[1] - 1 - start[0]) // step[0] * step[0]
        return start[0], max(start[0], end[1] - 1)

    def _affine(self, op: ir.Operation, depth: int) -> Range | None:
        affine_map = op.attributes["map"].value
        operands = [self.of(operand, depth + 1) for operand in op.operands]

        def of(expr: ir.AffineExpr) -> Range | None:
            if isinstance(expr, ir.AffineConstantExpr):
                return expr.value, expr.value
            if isinstance(expr, ir.AffineDimExpr):
                return operands[expr.position]
            if isinstance(expr, ir.AffineSymbolExpr):
                return operands[affine_map.n_dims + expr.position]
            if isinstance(expr, ir.AffineAddExpr | ir.AffineMulExpr):
                left, right = of(expr.lhs), of(expr.rhs)
                join = add if isinstance(expr, ir.AffineAddExpr) else mul
                return None if left is None or right is None else _corners(join)(left, right)
            return None

        return of(affine_map.results[0])


def _everything(type_: ir.Type) -> Range:
    width = type_.width if isinstance(type_, ir.IntegerType) else 64
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def _corners(join: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    """``join`` of two ranges, from their ends."""

    def joined(a: Range, b: Range) -> Range:
        found = [join(x, y) for x in a for y in b]
        return min(found), max(found)

    return joined


def _remainder(a: Range, b: Range) -> Range | None:
    if a[0] < 0 or b[0] <= 0:
        return None
    return 0, min(a[1], b[1] - 1)


_COMBINED: dict[str, Callable[[Range, Range], Range | None]] = {
    "arith.addi": _corners(add),
    "arith.subi": _corners(sub),
    "arith.muli": _corners(mul),
    "arith.maxsi": _corners(max),
    "arith.minsi": _corners(min),
    "arith.remsi": _remainder,
    "arith.remui": _remainder,
}
