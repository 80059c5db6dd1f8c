"""``ipu-expand-sorts``: sorts of StableHLO by counting what comes before each element."""

from collections.abc import Callable

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.scalar_regions import (
    Values,
    apply_region,
    both,
    compare,
    extract,
    for_each,
    index,
    insert,
    select,
    truth,
)
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class ExpandSorts(Pass):
    """Write stablehlo.sort as loops that count what comes before each element, and put it there.

    Of elements that tie the earlier one comes first. ``ipu-raise-ranks`` and ``ipu-raise-loops`` make a rank and a
    scatter for each operand of them.

    Needs:  StableHLO of static shapes.
    Leaves: no ``stablehlo.sort``; ``scf.for`` on elements in its place, the comparison still in StableHLO.
    """

    name = "ipu-expand-sorts"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "stablehlo.sort"):
                with ir.InsertionPoint(op), op.location:
                    replace_op(op, _sort(op))


def _sort(op: ir.Operation) -> Values:
    along = ir.IntegerAttr(op.attributes["dimension"]).value if "dimension" in op.attributes else -1
    return sorted_by(list(op.operands), along, lambda scalars: apply_region(op.regions[0], scalars)[0])


def sorted_by(operands: Values, along: int, comes_before: Callable[[Values], ir.Value]) -> Values:
    """``operands`` sorted along a dimension.

    Args:
        comes_before: whether one element comes before another, from scalars: of each operand one and the other.
    """
    shape = list(operands[0].type.shape)
    if not shape or 0 in shape:
        return operands
    along %= len(shape)
    arith = upstream("arith")

    def at(counters: Values, other: ir.Value) -> Values:
        return [*counters[:along], other, *counters[along + 1 :]]

    def rank(counters: Values, carried: Values) -> Values:
        own = [extract(operand, counters) for operand in operands]

        def count(others: Values, counted: Values) -> Values:
            (other,) = others
            values = [extract(operand, at(counters, other)) for operand in operands]
            before = comes_before(_pairs(values, own))
            after = comes_before(_pairs(own, values))
            not_after = arith.XOrIOp(after, truth(True)).result
            earlier = compare("ult", other, counters[along])
            # A comparison that holds both ways is a tie, as one that holds in neither.
            comes = select(earlier, arith.OrIOp(before, not_after).result, both(before, not_after))
            return [select(comes, arith.AddIOp(counted[0], index(1)).result, counted[0])]

        (found,) = for_each([shape[along]], [index(0)], count)
        return [insert(found, carried[0], counters)]

    tensor = upstream("tensor")
    (ranks,) = for_each(shape, [tensor.EmptyOp(shape, ir.IndexType.get()).result], rank)
    results = []
    for operand in operands:
        empty = tensor.EmptyOp(shape, operand.type.element_type).result

        def put(counters: Values, carried: Values, operand: ir.Value = operand) -> Values:
            return [insert(extract(operand, counters), carried[0], at(counters, extract(ranks, counters)))]

        results += for_each(shape, [empty], put)
    return results


def _pairs(first: Values, second: Values) -> Values:
    """The arguments of a comparison: of each operand one element and the other."""
    return [value for pair in zip(first, second, strict=True) for value in pair]
