"""The places of the first of the largest or smallest elements: the best so far in registers, and where it was."""

from dataclasses import replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access
from ipu_mlir.runtime.translator.array_ir.statements import FirstExtreme
from ipu_mlir.runtime.translator.kernels.code import I64, LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import vectors
from ipu_mlir.runtime.translator.kernels.points import Cut, Points

_FEWEST_LANES = 4  # results from which a vector with a mask beats single numbers
_CALL_US, _SETTLED_US = 2.0, 40.0  # of NumPy: a call, and where it corrects what it found for NaN
_ACROSS_US, _ALONG_US = 0.0017, -0.0009  # saved per element: NumPy is fast along rows, slow across them


def extreme_us(statement: FirstExtreme) -> float:
    """Time that a kernel saves of that of NumPy, which compares the elements of a row many at a time."""
    results = prod(n for n, is_reduced in zip(statement.extents, statement.reduced, strict=True) if not is_reduced)
    call_us = _CALL_US if results == 1 or statement.call.endswith("_or_nan") else _SETTLED_US
    steps = [s for s, is_reduced in zip(statement.source.strides, statement.reduced, strict=True) if is_reduced]
    return call_us + prod(statement.extents) * (_ALONG_US if 1 in steps else _ACROSS_US)


def write_extreme(function: Function, statement: FirstExtreme, loop: int | None, part: Cut | None) -> None:
    """Append the loops of ``statement``; ``part`` of ``loop`` only."""
    if statement.source.buffer.dtype.kind not in "fi" or statement.unsigned:
        raise NoKernel(f"the largest of {statement.source.buffer.dtype} is not found in kernels")
    if 0 in statement.extents:
        raise NoKernel("a reduction of nothing")
    order = sorted(
        range(len(statement.extents)), key=lambda n: (n != loop, statement.reduced[n], -statement.out.strides[n], n)
    )

    def change(access: Access) -> Access:
        return replace(access, strides=tuple(access.strides[n] for n in order))

    reduced = tuple(statement.reduced[n] for n in order)
    found = replace(statement, source=change(statement.source), out=change(statement.out), reduced=reduced)
    extents = tuple(statement.extents[n] for n in order)
    points = Points.over(function, extents, [found.source, found.out], reduced, part)
    _Extreme(points, found).write(0)


class _Extreme:
    """The loops of one statement: those of its results, and inside the one whose places are counted."""

    def __init__(self, points: Points, statement: FirstExtreme) -> None:
        self.points, self.statement, self.function = points, statement, points.function
        self.ops = points.function.ops
        self.kept = sum(not statement.reduced[axis[0]] for axis in points.axes)
        if len(points.axes) - self.kept > 1:
            raise NoKernel("what is compared is evenly spaced")
        last = self.kept - 1
        if last >= 0 and points.known_count(last) >= _FEWEST_LANES and points.stride(statement.out, last) == 1:
            points.vector_axis = last
        self.is_maximum = statement.call.startswith("first_maximum")
        self.nan = statement.call.removeprefix("first_maximum").removeprefix("first_minimum")

    def write(self, depth: int) -> None:
        """The loops from axis ``depth`` on."""
        points, function = self.points, self.function
        if depth == self.kept:
            self._one()
        elif depth != points.vector_axis:
            with function.loop(points.count(depth)) as number:
                points.at[depth] = number
                self.write(depth + 1)
        else:
            for number, mask in vectors(function, points.count(depth)):
                points.at[depth], points.mask = number, mask
                self.write(depth + 1)
            points.mask = None
        points.at.pop(depth, None)

    def _one(self) -> None:
        """One result, or one in each lane."""
        points, function, ops, statement = self.points, self.function, self.ops, self.statement
        lanes = 1 if points.vector_axis is None else LANES
        source, kind = statement.source.buffer.dtype, statement.out.buffer.dtype
        start, nowhere = (function.code.constant(n, d, lanes) for n, d in ((self._worst(), source), (-1, kind)))
        best, place = function.held(start), function.held(nowhere)
        axis = self.kept
        with function.loop(points.known_count(axis) if axis < len(points.axes) else 1) as number:
            points.at[axis] = number
            if axis == len(points.axes):  # a single point, which is no axis
                points.at.pop(axis)
            before, element = function.read(best, start), ops.wide(points.load(statement.source, source), lanes)
            is_taken, is_kept = self._taken(before, element)
            at = ops.wide(ops.cast(Value(number, I64), kind), lanes)
            function.write(place, ops.select(is_taken, at, function.read(place, nowhere)))
            function.write(best, ops.select(is_kept, element, before))
        points.at.pop(axis, None)
        found = function.read(place, nowhere)
        if self.nan == "_or_nan":  # one is always found: the first of all that are the lowest
            found = ops.op("arith.maxsi", found, ops.constant(0, found))
        points.store(statement.out, found)

    def _taken(self, best: Value, element: Value) -> tuple[Value, Value]:
        """Where ``element`` is the best, and where it is held from now on: a NaN too, which nothing is better than."""
        ops, is_float = self.ops, element.dtype.kind == "f"
        order = "o" if is_float else "s"
        if self.nan == "_after_nan":
            keeps = ops.compare(f"{order}{'ge' if self.is_maximum else 'le'}", best, element)
            is_taken = ops.op("arith.xori", keeps, ops.constant(True, keeps))
            return is_taken, is_taken
        is_better = ops.compare(f"{order}{'gt' if self.is_maximum else 'lt'}", element, best)
        if not is_float:
            return is_better, is_better
        is_held = ops.op("arith.ori", is_better, ops.is_nan(element))
        if self.nan == "":
            return is_better, is_held
        is_first = ops.op("arith.andi", is_held, ops.compare("oeq", best, best))
        return is_first, is_first

    def _worst(self) -> object:
        dtype = self.statement.source.buffer.dtype
        if dtype.kind == "f":
            return -np.inf if self.is_maximum else np.inf
        return np.iinfo(dtype).min if self.is_maximum else np.iinfo(dtype).max
