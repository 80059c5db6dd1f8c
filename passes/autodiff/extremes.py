"""Maxima and minima over loops: the points that the cotangent of the result goes to, as JAX has it.

Of a reduction, all elements that are equal to the result share its cotangent. Of windows, which overlap, the first
element of each window that is equal to its result takes all of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import NotDifferentiable, elementwise, zeros
from ipu_mlir.passes.autodiff.scalar_rules import number_like
from ipu_mlir.passes.autodiff.structured import Operand, Structured
from ipu_mlir.passes.support.clone import Known
from ipu_mlir.passes.support.linalg_builders import fill_with, zero

arith, tensor = upstream("arith"), upstream("tensor")

EXTREMES = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
"""The ops that combine elements to one of them."""

_MOST_POINTS = 1 << 24
"""All whole numbers below it are floats of 32 bits."""


@dataclass(frozen=True)
class Goal:
    """The points to which the cotangent of a result goes.

    Attributes:
        cotangent: for each such point, by the map of the result.
        marks: what ``holds`` takes besides, with their maps.
        holds: True, as an i1, at these points: of the value that the point gives, and of the marks.
    """

    cotangent: ir.Value
    marks: tuple[Operand, ...]
    holds: Callable[..., ir.Value]


def shared(nest: Structured, value: ir.Value, output: ir.AffineMap, result: ir.Value, cotangent: ir.Value) -> Goal:
    """Equal elements share the cotangent of ``result``, to which the body gives ``value`` at each point."""

    def holds(here: ir.Value, mark: ir.Value) -> ir.Value:
        return arith.cmpf(arith.CmpFPredicate.OEQ, here, mark)

    def count(known: Known, further: list[ir.Value], so_far: ir.Value) -> ir.Value:
        here = holds(known[value], further[0])
        return arith.addf(so_far, arith.select(here, number_like(so_far, 1), number_like(so_far, 0)))

    ties = nest.over_same_loops([value], [(result, output)], zeros(result.type), output, count)
    each = elementwise([cotangent, ties], cotangent.type, lambda values: arith.divf(*values))
    return Goal(each, ((result, output),), holds)


def first(nest: Structured, value: ir.Value, output: ir.AffineMap, result: ir.Value, cotangent: ir.Value) -> Goal:
    """The first of equal elements, in the order of the loops, has the cotangent of ``result``.

    Its marks are the number of that element, and the numbers of the points of a window, as floats, of which the machine
    finds the smallest fastest.

    Raises:
        NotDifferentiable: floats cannot count the points.
    """
    reduced = [loop for loop, parallel in enumerate(nest.nest.parallel) if not parallel]
    sizes = [nest.nest.extents[loop] for loop in reduced]
    if prod(sizes) >= _MOST_POINTS:
        raise NotDifferentiable(nest.op, f"finds the extremes of windows of {_MOST_POINTS:,} points or more")
    points = ir.AffineMap.get(output.n_dims, 0, [ir.AffineDimExpr.get(loop) for loop in reduced])
    numbers = numbers_of_points(np.arange(prod(sizes)).reshape(sizes))

    def earliest(known: Known, further: list[ir.Value], so_far: ir.Value) -> ir.Value:
        here = arith.cmpf(arith.CmpFPredicate.OEQ, known[value], further[0])
        return arith.minimumf(so_far, arith.select(here, further[1], number_like(so_far, prod(sizes))))

    def holds(here: ir.Value, mark: ir.Value, number: ir.Value) -> ir.Value:
        return arith.cmpf(arith.CmpFPredicate.OEQ, number, mark)

    f32 = ir.F32Type.get()
    none = fill_with(
        arith.constant(f32, float(prod(sizes))), tensor.EmptyOp(list(result.type.shape), f32).result
    ).results[0]
    marks = nest.over_same_loops([value], [(result, output), (numbers, points)], none, output, earliest)
    return Goal(cotangent, ((marks, output), (numbers, points)), holds)


def numbers_of_points(numbers: np.ndarray) -> ir.Value:
    """A constant tensor of ``numbers``, as f32."""
    attribute = ir.DenseElementsAttr.get(np.ascontiguousarray(numbers, dtype=np.float32))
    return arith.ConstantOp(attribute.type, attribute).result


def at_goal(goal: Goal, here: ir.Value, cotangent: ir.Value, marks: Sequence[ir.Value]) -> ir.Value:
    """``cotangent`` where ``goal`` is met, else 0."""
    return arith.select(goal.holds(here, *marks), cotangent, zero(cotangent.type))
