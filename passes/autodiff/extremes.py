"""Maxima and minima over loops: the points that the cotangent of the result goes to, as JAX has it.

Of a reduction, all elements that are equal to the result share its cotangent. Of windows, which overlap, the first
element of each window that is equal to its result takes all of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import elementwise, zeros
from ipu_mlir.passes.autodiff.scalar_rules import number_like
from ipu_mlir.passes.autodiff.structured import Structured
from ipu_mlir.passes.support.clone import Known
from ipu_mlir.passes.support.linalg_builders import constant_index, fill_with, loop_index, zero

arith, tensor = upstream("arith"), upstream("tensor")

EXTREMES = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
"""The ops that combine elements to one of them."""


@dataclass(frozen=True)
class Goal:
    """The points to which the cotangent of a result goes.

    Attributes:
        cotangent: for each such point, by the map of the result.
        mark: what ``holds`` takes besides, by the map of the result.
        holds: True, as an i1, at these points: of the value that the point gives, and of the mark.
    """

    cotangent: ir.Value
    mark: ir.Value
    holds: Callable[[ir.Value, ir.Value], ir.Value]


def shared(nest: Structured, value: ir.Value, output: ir.AffineMap, result: ir.Value, cotangent: ir.Value) -> Goal:
    """Equal elements share the cotangent of ``result``, to which the body gives ``value`` at each point."""

    def holds(here: ir.Value, mark: ir.Value) -> ir.Value:
        return arith.cmpf(arith.CmpFPredicate.OEQ, here, mark)

    def count(known: Known, further: list[ir.Value], so_far: ir.Value) -> ir.Value:
        here = holds(known[value], further[0])
        return arith.addf(so_far, arith.select(here, number_like(so_far, 1), number_like(so_far, 0)))

    ties = nest.over_same_loops([value], [(result, output)], zeros(result.type), output, count)
    each = elementwise([cotangent, ties], cotangent.type, lambda values: arith.divf(*values))
    return Goal(each, result, holds)


def first(nest: Structured, value: ir.Value, output: ir.AffineMap, result: ir.Value, cotangent: ir.Value) -> Goal:
    """The first of equal elements, in the order of the loops, has the cotangent of ``result``."""
    reduced = [loop for loop, parallel in enumerate(nest.nest.parallel) if not parallel]
    sizes = [nest.nest.extents[loop] for loop in reduced]
    i32 = ir.IntegerType.get_signless(32)

    def number() -> ir.Value:
        """Of the point among those of the result."""
        found = constant_index(0)
        for place, loop in enumerate(reduced):
            stride = constant_index(prod(sizes[place + 1 :]))
            found = arith.addi(found, arith.muli(loop_index(loop), stride))
        return arith.index_cast(i32, found)

    def holds(here: ir.Value, mark: ir.Value) -> ir.Value:
        return arith.cmpi(arith.CmpIPredicate.eq, number(), mark)

    def earliest(known: Known, further: list[ir.Value], so_far: ir.Value) -> ir.Value:
        here = arith.cmpf(arith.CmpFPredicate.OEQ, known[value], further[0])
        return arith.minsi(so_far, arith.select(here, number(), arith.constant(i32, prod(sizes))))

    kind = ir.RankedTensorType.get(list(result.type.shape), i32)
    none = fill_with(arith.constant(i32, prod(sizes)), tensor.EmptyOp(list(kind.shape), i32).result).results[0]
    return Goal(cotangent, nest.over_same_loops([value], [(result, output)], none, output, earliest), holds)


def at_goal(goal: Goal, here: ir.Value, cotangent: ir.Value, mark: ir.Value) -> ir.Value:
    """``cotangent`` where ``goal`` is met, else 0."""
    return arith.select(goal.holds(here, mark), cotangent, zero(cotangent.type))
