"""Reductions: sums in 16 lanes that are put together in a fixed order, so that they have the same bits everywhere."""

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.kernels.arithmetic import Arithmetic
from ipu_mlir.runtime.translator.kernels.code import LANES, NoKernel, Value, type_text
from ipu_mlir.runtime.translator.kernels.extremes import write_extreme
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import vectors
from ipu_mlir.runtime.translator.kernels.numpy_functions import apply_call
from ipu_mlir.runtime.translator.kernels.points import Cut, Points
from ipu_mlir.runtime.translator.statements.access import Access, merged_loops
from ipu_mlir.runtime.translator.statements.statements import Dot, FirstExtreme, Reduce
from ipu_mlir.runtime.translator.statements.types import unsigned

_SUMMED_AT_ONCE = 64
"""Terms per lane that are added one after the other. Sums of so many are then added with what was rounded away from
the sum before (Kahan): a plain sum loses digits."""

_MOST_TAPS = 16  # of a window; more are summed in other ways
_TAP_US, _POINT_US, _PER_ELEMENTS = 30.0, 8.5, 65536  # of NumPy, and in registers

_ORDER_US = 16.0  # that NumPy takes longer where it reduces other axes than the first or the last

_NEUTRAL = {"add": 0, "multiply": 1, "logical_and": True, "logical_or": False, "logical_xor": False}
_NEUTRAL |= {"bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "fmax": np.nan, "fmin": np.nan}


@dataclass(frozen=True)
class _Sum:
    """What is combined: of each point a number, or the product of two."""

    call: str
    sources: tuple[Access, ...]
    out: Access
    dtype: np.dtype
    reduced: tuple[bool, ...]


def saved_window_us(reduce: Reduce) -> float:
    """Time that a pooling saves in registers: NumPy has a call for each of its points, on rows that are apart."""
    loops = list(zip(reduce.extents, reduce.source.strides, reduce.out.strides, strict=True))
    points, results = prod(reduce.extents), prod(n for n, _, out in loops if out)
    is_window = any(n >= LANES and source == out == 1 for n, source, out in loops) and points <= _MOST_TAPS * results
    return (points - results) * _TAP_US / _PER_ELEMENTS - points * _POINT_US / _PER_ELEMENTS if is_window else 0.0


def saved_order_us(reduce: Reduce) -> float:
    """Time that a reduction of other axes than the first or the last saves: NumPy goes from run to run in memory."""
    order = sorted(range(len(reduce.extents)), key=lambda loop: -abs(reduce.source.strides[loop]))
    parts = [[each[loop] for loop in order] for each in (reduce.extents, reduce.source.strides, reduce.out.strides)]
    runs = merged_loops(parts[0], parts[1:], [reduce.reduced[loop] for loop in order])
    return prod(reduce.extents) * _ORDER_US / _PER_ELEMENTS if len(runs) > 2 else 0.0


def write_reduction(
    function: Function, statement: Reduce | Dot, loop: int | None = None, part: Cut | None = None
) -> None:
    """Append the loops of ``statement``; ``part`` of ``loop`` only."""
    if isinstance(statement, FirstExtreme):
        write_extreme(function, statement, loop, part)
        return
    dtype = statement.out.buffer.dtype
    if isinstance(statement, Dot):
        reduced = tuple(not stride for stride in statement.out.strides)
        what = _Sum("add", (statement.a, statement.b), statement.out, dtype, reduced)
    else:
        seen = unsigned(dtype) if statement.unsigned else dtype
        what = _Sum(statement.call, (statement.source,), statement.out, seen, statement.reduced)
    if any(access.buffer.dtype.itemsize != what.dtype.itemsize for access in (*what.sources, what.out)):
        raise NoKernel("a reduction has one type")
    if 0 in statement.extents:
        raise NoKernel("a reduction of nothing")

    def outermost_first(n: int) -> tuple[bool, int, bool, int]:
        moving = what.sources[-1] if what.reduced[n] else what.out
        return what.reduced[n], -moving.strides[n], n != loop, n

    order = sorted(range(len(statement.extents)), key=outermost_first)
    if part is not None and loop is not None:
        part = replace(part, loop=order.index(loop))

    def change(access: Access) -> Access:
        return replace(access, strides=tuple(access.strides[n] for n in order))

    what = replace(
        what,
        sources=tuple(map(change, what.sources)),
        out=change(what.out),
        reduced=tuple(what.reduced[n] for n in order),
    )
    extents = tuple(statement.extents[n] for n in order)
    points = Points.over(function, extents, [*what.sources, what.out], what.reduced, part)
    _Reduction(points, what).write()


def all_lanes(ops: Arithmetic, value: Value, call: str) -> Value:
    """All lanes of ``value``: halves with halves."""
    while value.lanes > 1:
        lanes = value.lanes // 2
        halves = []
        for offset in (0, lanes):
            kind = type_text(value.dtype, lanes) if lanes > 1 else f"vector<1x{type_text(value.dtype)}>"
            half = ops.code.value(
                f"vector.extract_strided_slice {value.name} {{offsets = [{offset}], sizes = [{lanes}], "
                f"strides = [1]}} : {value.type} to {kind}"
            )
            if lanes == 1:
                half = ops.code.value(f"vector.extract {half}[0] : {type_text(value.dtype)} from {kind}")
            halves.append(Value(half, value.dtype, lanes))
        value = apply_call(ops, call, value.dtype, halves)
    return value


class _Reduction:
    """The loops of one reduction: those that are kept outside, those that are reduced inside."""

    def __init__(self, points: Points, what: _Sum) -> None:
        self.points, self.what, self.function = points, what, points.function
        self.ops = points.function.ops
        self.kept = [n for n, axis in enumerate(points.axes) if not what.reduced[axis[0]]]
        self.inner = [n for n, axis in enumerate(points.axes) if what.reduced[axis[0]]]
        if self.inner and self._side_by_side(self.inner[-1]):
            points.vector_axis = self.inner[-1]
        elif self.kept and points.stride(what.out, self.kept[-1]) == 1 and self._side_by_side(self.kept[-1]):
            points.vector_axis = self.kept[-1]
        self.across = points.vector_axis in self.inner

    def _side_by_side(self, axis: int) -> bool:
        strides = [self.points.stride(access, axis) for access in self.what.sources]
        return 1 in strides and set(strides) <= {0, 1} and self.points.known_count(axis) >= LANES

    def write(self) -> None:
        """All of it."""
        self._kept(0)

    def _kept(self, depth: int) -> None:
        points = self.points
        if depth == len(self.kept):
            self._one()
            return
        axis = self.kept[depth]
        if axis == points.vector_axis:
            for number, mask in vectors(self.function, points.count(axis)):
                points.at[axis], points.mask = number, mask
                self._kept(depth + 1)
        else:
            with self.function.loop(points.count(axis)) as number:
                points.at[axis] = number
                self._kept(depth + 1)
        points.at.pop(axis)
        if axis == points.vector_axis:
            points.mask = None

    def _one(self) -> None:
        """One result, or one in each lane."""
        lanes = LANES if self.points.vector_axis is not None else 1
        start = self._neutral(lanes)
        total = self.function.held(start)
        terms = 1
        for axis in self.inner:
            terms *= self.points.known_count(axis) // (LANES if axis == self.points.vector_axis else 1)
        parts = self.what.call == "add" and self.what.dtype.kind == "f" and terms > _SUMMED_AT_ONCE
        self._reduced(0, total, start, parts)
        result = self.function.read(total, start)
        if self.across:
            result = all_lanes(self.ops, result, self.what.call)
        self.points.store(self.what.out, result)

    def _reduced(self, depth: int, total: str, start: Value, parts: bool) -> None:
        """Combine into ``total``; with ``parts`` the innermost axis adds up pieces first."""
        points, function = self.points, self.function
        if depth == len(self.inner):
            self._combine(total, start)
            return
        axis = self.inner[depth]
        is_last = depth == len(self.inner) - 1
        count, step = points.known_count(axis), LANES if axis == points.vector_axis else 1
        if is_last and parts:
            piece, error = self.function.held(start), self.function.held(start)
            whole = count // step * step
            with function.loop(whole, _SUMMED_AT_ONCE * step) as first:
                self.function.write(piece, start)
                end = self._end(first, whole, _SUMMED_AT_ONCE * step)
                with function.loop(end, step, first) as number:
                    points.at[axis] = number
                    self._combine(piece, start)
                self._add_exactly(total, error, self.function.read(piece, start))
            if count > whole:
                points.at[axis] = function.code.index(whole)
                points.mask = function.lanes_below(function.code.index(count - whole))
                self._combine(total, start)
                points.mask = None
        elif step == LANES:
            for number, mask in vectors(function, count):
                points.at[axis], points.mask = number, mask
                self._combine(total, start)
            points.mask = None
        else:
            with function.loop(count) as number:
                points.at[axis] = number
                self._reduced(depth + 1, total, start, parts)
        points.at.pop(axis)

    def _add_exactly(self, total: str, error: str, term: Value) -> None:
        """Add ``term``, less by how much the sum was too large before; beyond all numbers there is no such thing."""
        ops, before = self.ops, self.function.read(total, term)
        term = ops.op("arith.subf", term, self.function.read(error, term))
        after = ops.op("arith.addf", before, term)
        rounded = ops.op("arith.subf", ops.op("arith.subf", after, before), term)
        known = ops.compare("olt", ops.op("math.absf", rounded), ops.constant(np.inf, rounded))
        self.function.write(error, ops.select(known, rounded, ops.constant(0, rounded)))
        self.function.write(total, after)

    def _end(self, first: str, whole: int, size: int) -> str:
        code = self.function.code
        after = code.value(f"arith.addi {first}, {code.index(size)} : i64")
        return code.value(f"arith.minsi {after}, {code.index(whole)} : i64")

    def _combine(self, place: str, start: Value) -> None:
        """One more point into what is held at ``place``."""
        ops, what, mask = self.ops, self.what, self.points.mask
        before = self.function.read(place, start)
        read = [self.points.load(access, what.dtype) for access in what.sources]
        if len(read) == 2 and what.dtype.kind == "f":
            after = ops.op("math.fma", *read, before)
        else:
            term = read[0] if len(read) == 1 else ops.op("arith.muli", *read)
            if what.dtype.kind == "b" and len(read) == 2:
                raise NoKernel("truth values are not multiplied and added")
            after = apply_call(ops, what.call, what.dtype, [before, ops.wide(term, start.lanes)])
        if mask is not None and self.across:
            after = ops.select(mask, after, before)
        self.function.write(place, after)

    def _neutral(self, lanes: int) -> Value:
        call, dtype = self.what.call, self.what.dtype
        if call in ("maximum", "minimum"):
            if dtype.kind == "b":
                number: object = call == "minimum"
            elif dtype.kind == "f":
                number = -np.inf if call == "maximum" else np.inf
            else:
                limits = np.iinfo(dtype)
                number = limits.min if call == "maximum" else limits.max
        elif call in _NEUTRAL:
            number = _NEUTRAL[call]
            if call == "bitwise_and" and dtype.kind != "i":
                number = True if dtype.kind == "b" else np.iinfo(dtype).max
        else:
            raise NoKernel(f"{call} is not reduced with")
        return self.function.code.constant(number, dtype, lanes)
