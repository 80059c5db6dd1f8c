"""The gradient of extremes of windows: each element gathers from the windows that it is in.

An element at p = s * q + r of a dimension that windows o read at s * o + d * w + c is point w of those windows for
which r - c - d * w is a multiple of s. The elements of one remainder r are in equally many windows, which lie evenly.
An op over these elements compares the number of each such point with that of the first best one of its window.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod

import numpy as np

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import zeros
from ipu_mlir.passes.autodiff.extremes import Goal, numbers_of_points
from ipu_mlir.passes.autodiff.structured import Structured
from ipu_mlir.passes.support.linalg_builders import fill_with, generic, zero

arith, tensor = upstream("arith"), upstream("tensor")


@dataclass(frozen=True)
class Windows:
    """The windows over one dimension of ``size`` elements.

    Attributes:
        base: the loop over ``count`` windows, which lie ``step`` apart.
        point: the loop over the ``length`` points of a window, ``distance`` apart; None if each window is one element.
        start: of the first one.
    """

    size: int
    base: int
    count: int
    step: int
    point: int | None
    length: int
    distance: int
    start: int

    def phase(self, remainder: int) -> "Phase | None":
        """The elements at ``remainder`` from a multiple of ``step``; None if they are in no window.

        >>> Windows(8, 0, 4, 2, 1, 3, 1, 0).phase(0), Windows(8, 0, 4, 2, 1, 3, 1, 0).phase(1)
        (Phase(elements=4, first=-1, distance=1, points=(2, 0)), Phase(elements=4, first=0, distance=1, points=(1,)))
        """
        shift = remainder - self.start
        found = [point for point in range(self.length) if (shift - self.distance * point) % self.step == 0]
        if not found or remainder >= self.size:
            return None
        elements = -(-(self.size - remainder) // self.step)
        first = (shift - self.distance * found[-1]) // self.step
        return Phase(elements, first, self.distance // gcd(self.step, self.distance), tuple(reversed(found)))


@dataclass(frozen=True)
class Phase:
    """Elements that lie one step of the windows apart.

    Attributes:
        elements: their number.
        first: the earliest window with the first of them, which may lie before all windows.
        distance: from window to window that an element is in.
        points: the point that the first element is in each of these windows, the earliest one first.
    """

    elements: int
    first: int
    distance: int
    points: tuple[int, ...]

    @property
    def length(self) -> int:
        """The windows from the earliest one of the first element to the last one of the last."""
        return self.elements + self.distance * (len(self.points) - 1)


def gather_from_windows(
    nest: Structured, indices: Sequence[Index], shape: Sequence[int], output: ir.AffineMap, goal: Goal
) -> ir.Value | None:
    """The cotangent of an operand of ``shape`` whose extremes over windows, read at ``indices``, meet ``goal``.

    None where the operand is not read by one window in each dimension, or ``goal`` is not that of windows.
    """
    every = [_windows(nest, index, size) for index, size in zip(indices, shape, strict=True)]
    windows = [each for each in every if each is not None]
    used = [loop for each in windows for loop in (each.base, each.point) if loop is not None]
    if len(goal.marks) != 2 or len(windows) < len(every) or sorted(used) != list(range(len(nest.nest.extents))):
        return None
    axes = [
        next(axis for axis, each in enumerate(windows) if each.base == ir.AffineDimExpr(result).position)
        for result in output.results
    ]
    phases = [[each.phase(remainder) for remainder in range(each.step)] for each in windows]
    lows = [max((max(0, -phase.first) for phase in each if phase is not None), default=0) for each in phases]
    highs = [
        max((max(0, phase.first + phase.length - own.count) for phase in each if phase is not None), default=0)
        for each, own in zip(phases, windows, strict=True)
    ]
    (marks, _), _ = goal.marks
    around = [_with_more(value, axes, lows, highs, fill) for value, fill in ((goal.cotangent, 0.0), (marks, -1.0))]
    element = goal.cotangent.type.element_type
    whole = zeros(ir.RankedTensorType.get(list(shape), element))
    for remainders in product(*(range(each.step) for each in windows)):
        chosen = [each[remainder] for each, remainder in zip(phases, remainders, strict=True)]
        found = [phase for phase in chosen if phase is not None]
        if len(found) < len(chosen):
            continue
        starts = [phase.first + low for phase, low in zip(found, lows, strict=True)]
        parts = [_part(value, axes, starts, found) for value in around]
        gathered = _gathered(parts[0], parts[1], nest, axes, windows, found)
        steps = [each.step for each in windows]
        if all(step == 1 for step in steps):
            return gathered
        sizes = [phase.elements for phase in found]
        whole = tensor.InsertSliceOp(gathered, whole, [], [], [], list(remainders), sizes, steps).result
    return whole


def _windows(nest: Structured, index: Index, size: int) -> Windows | None:
    """The windows that ``index`` reads; None where it is no loop over windows with at most one over their points."""
    loops = [loop for loop, factor in enumerate(index.coefficients) if factor]
    bases = [loop for loop in loops if nest.nest.parallel[loop]]
    points = [loop for loop in loops if not nest.nest.parallel[loop]]
    if not index.linear or len(bases) != 1 or len(points) > 1 or any(index.coefficients[loop] < 0 for loop in loops):
        return None
    extents, base = nest.nest.extents, bases[0]
    length, distance = (extents[points[0]], index.coefficients[points[0]]) if points else (1, 1)
    point = points[0] if points else None
    return Windows(size, base, extents[base], index.coefficients[base], point, length, distance, index.constant)


def _with_more(
    value: ir.Value, axes: Sequence[int], lows: Sequence[int], highs: Sequence[int], fill: float
) -> ir.Value:
    """``value`` with further elements before and after its own, as many as its dimensions, ``axes``, need."""
    shape, element = list(value.type.shape), value.type.element_type
    wide = [size + lows[axis] + highs[axis] for size, axis in zip(shape, axes, strict=True)]
    if wide == shape:
        return value
    blank = fill_with(arith.constant(element, fill), tensor.EmptyOp(wide, element).result).results[0]
    offsets = [lows[axis] for axis in axes]
    return tensor.InsertSliceOp(value, blank, [], [], [], offsets, shape, [1] * len(shape)).result


def _part(value: ir.Value, axes: Sequence[int], starts: Sequence[int], phases: Sequence[Phase]) -> ir.Value:
    """The windows of ``value`` that elements of ``phases`` are in."""
    sizes = [phases[axis].length for axis in axes]
    if sizes == list(value.type.shape):
        return value
    kind = ir.RankedTensorType.get(sizes, value.type.element_type)
    offsets = [starts[axis] for axis in axes]
    return tensor.ExtractSliceOp(kind, value, [], [], [], offsets, sizes, [1] * len(sizes)).result


def _gathered(
    cotangent: ir.Value,
    marks: ir.Value,
    nest: Structured,
    axes: Sequence[int],
    windows: Sequence[Windows],
    phases: Sequence[Phase],
) -> ir.Value:
    """The sums over the windows of each element of ``phases``, of the cotangents of those whose first best it is."""
    inner = [axis for axis, each in enumerate(windows) if each.point is not None]
    loops = len(windows) + len(inner)
    read = [ir.AffineDimExpr.get(axis) for axis in range(len(windows))]
    for number, axis in enumerate(inner, start=len(windows)):
        read[axis] = read[axis] + ir.AffineDimExpr.get(number) * phases[axis].distance
    window = ir.AffineMap.get(loops, 0, [read[axis] for axis in axes])
    own = ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(number) for number in range(len(windows), loops)])
    output = ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(axis) for axis in range(len(windows))])
    numbers = numbers_of_points(_numbers(nest, [(windows[axis].point, phases[axis].points) for axis in inner]))
    start = zeros(ir.RankedTensorType.get([phase.elements for phase in phases], cotangent.type.element_type))

    def body(values: list[ir.Value]) -> list[ir.Value]:
        given, mark, number, so_far = values
        here = arith.cmpf(arith.CmpFPredicate.OEQ, mark, number)
        return [arith.addf(so_far, arith.select(here, given, zero(given.type)))]

    kinds = [True] * len(windows) + [False] * len(inner)
    return generic([cotangent, marks, numbers], [start], [window, window, own, output], kinds, body).results[0]


def _numbers(nest: Structured, points: Sequence[tuple[int | None, tuple[int, ...]]]) -> np.ndarray:
    """The numbers of the points of windows, by their place in each of several reduced loops."""
    sizes = {loop: nest.nest.extents[loop] for loop, parallel in enumerate(nest.nest.parallel) if not parallel}
    total = np.zeros([len(places) for _, places in points], dtype=np.int64)
    for axis, (loop, places) in enumerate(points):
        stride = prod(size for other, size in sizes.items() if loop is not None and other > loop)
        shape = [-1 if at == axis else 1 for at in range(len(points))]
        total += stride * np.array(places).reshape(shape)
    return total
