"""Reductions: sums in 16 lanes that are put together in a fixed order, so that they have the same bits everywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.kernels.extremes import write_extreme
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import Body, Nest, reads_elsewhere, turned, vectors
from ipu_mlir.runtime.translator.kernels.points import Cut, Points
from ipu_mlir.runtime.translator.kernels.scalar.code import LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.scalar.numpy_functions import all_lanes, apply_call
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, merged_loops
from ipu_mlir.runtime.translator.statements.cost import call_us
from ipu_mlir.runtime.translator.statements.expression import Apply, Read, moving_accesses
from ipu_mlir.runtime.translator.statements.statements import Dot, FirstExtreme, Reduce
from ipu_mlir.runtime.translator.statements.transform import with_accesses
from ipu_mlir.runtime.translator.statements.types import unsigned

_SUMMED_AT_ONCE = 64
"""Terms per lane that are added one after the other. Sums of so many are then added with what was rounded away from
the sum before (Kahan): a plain sum loses digits."""

_NEUTRAL = {"add": 0, "multiply": 1, "logical_and": True, "logical_or": False, "logical_xor": False}
_NEUTRAL |= {"bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "fmax": np.nan, "fmin": np.nan}


_MOST_TOGETHER = 4  # results, or vectors of them, whose terms do not wait for each other
_LEAST_TOGETHER = 4096  # points that are reduced: for fewer the machine code is not worth its length
_CHEAP_US = 40.0  # of the terms of one result, by NumPy: dearer ones keep the processor busy as they are


@dataclass(frozen=True)
class Reduced:
    """``reduces`` over the points of ``nest``, in its loops: what they combine is at hand when its stores are done."""

    nest: Nest
    reduces: tuple[Reduce | Dot, ...]


@dataclass(frozen=True)
class _Sum:
    """What is combined: of each point a number, or the product of two."""

    call: str
    factors: tuple[Read, ...]
    out: Access
    dtype: np.dtype
    reduced: tuple[bool, ...]


def write_reduction(
    function: Function, statement: Reduced | Reduce | Dot, loop: int | None = None, part: Cut | None = None
) -> None:
    """Append the loops of ``statement``; ``part`` of ``loop`` only."""
    if isinstance(statement, FirstExtreme):
        write_extreme(function, statement, loop, part)
        return
    is_fused = isinstance(statement, Reduced)
    nest = statement.nest if is_fused else Nest(statement.extents, ())
    wholes = [_sum_of(each) for each in (statement.reduces if is_fused else [statement])]
    if 0 in nest.extents:
        raise NoKernel("a reduction of nothing")
    order = _order(wholes[0], nest.extents, loop)
    if part is not None and loop is not None:
        part = replace(part, loop=order.index(loop))
    sums = [_turned(each, order) for each in wholes]
    nest = turned(nest, order)
    points = Points.over(function, nest.extents, _accesses(nest, sums), sums[0].reduced, part)
    _Reduction(points, sums, nest).write()


def _sum_of(statement: Reduce | Dot) -> _Sum:
    dtype = statement.out.buffer.dtype
    if isinstance(statement, Dot):
        reduced = tuple(not stride for stride in statement.out.strides)
        what = _Sum("add", (Read(dtype, statement.a), Read(dtype, statement.b)), statement.out, dtype, reduced)
    else:
        seen = unsigned(dtype) if statement.unsigned else dtype
        what = _Sum(statement.call, (Read(seen, statement.source),), statement.out, seen, statement.reduced)
    if any(each.access.buffer.dtype.itemsize != dtype.itemsize for each in what.factors):
        raise NoKernel("a reduction has one type")
    return what


def _order(what: _Sum, extents: tuple[int, ...], loop: int | None) -> list[int]:
    """The loops, those that are reduced inside, each kind in the order of memory."""

    def outermost_first(n: int) -> tuple[bool, int, bool, int]:
        moving = what.factors[-1].access if what.reduced[n] else what.out
        return what.reduced[n], -moving.strides[n], n != loop, n

    return sorted(range(len(extents)), key=outermost_first)


def _turned(what: _Sum, order: list[int]) -> _Sum:
    def change(access: Access) -> Access:
        return replace(access, strides=tuple(access.strides[n] for n in order))

    factors = tuple(replace(each, access=change(each.access)) for each in what.factors)
    return replace(what, factors=factors, out=change(what.out), reduced=tuple(what.reduced[n] for n in order))


def _accesses(nest: Nest, sums: list[_Sum]) -> list[Access]:
    used = [access for out, value in nest.stores for access in (out, *moving_accesses([value]))]
    return [*used, *(access for each in sums for access in (*(f.access for f in each.factors), each.out))]


def fused(
    before: Nest | Reduced, statement: Reduce | Dot, loop: int | None, place: Callable[[Buffer], Buffer]
) -> Reduced | None:
    """``before``, and ``statement`` of what it stores, in one pass; None if that is not possible, or sums otherwise.

    ``loop`` is the loop of ``statement`` that is cut. Sums of floats are made in the order that memory would have.
    """
    nest, others = (before.nest, before.reduces) if isinstance(before, Reduced) else (before, ())
    if isinstance(statement, FirstExtreme) or nest.begin is not None or 0 in nest.extents:
        return None
    loops = _same_loops(nest, statement)
    if loops is None or (None if nest.cut is None else loops[nest.cut]) != loop or reads_elsewhere(nest, place):
        return None
    if not nest.elided.intersection(access.buffer for access in statement.sources()):
        return None  # to read what is stored anyhow takes less long than the registers of a longer loop
    stored = {place(out.buffer): out for out, _ in nest.stores}
    statement = _in_loops(statement, loops)
    elsewhere = [each for each in statement.sources() if stored.get(place(each.buffer), each) != each]
    touched = {place(access.buffer) for access in _accesses(nest, [])}
    if place(statement.out.buffer) in touched or elsewhere:
        return None
    try:
        sums = [_sum_of(each) for each in (*others, statement)]
    except NoKernel:
        return None
    orders = [_order(each, nest.extents, nest.cut) for each in sums]
    if any((order, each.reduced) != (orders[0], sums[0].reduced) for order, each in zip(orders, sums, strict=True)):
        return None
    sums, nest_in_order = [_turned(each, orders[0]) for each in sums], turned(nest, orders[0])
    axes = _merged(nest_in_order, _accesses(nest_in_order, sums), sums[0].reduced)
    summed = [axis for axis in axes if sums[0].reduced[axis[0]]]
    for each in sums:
        alone = _merged(nest_in_order, _accesses(Nest((), ()), [each]), each.reduced)
        if [axis for axis in alone if each.reduced[axis[0]]] != summed:
            return None
    is_wide = _vector_axis(nest_in_order, sums, axes) is not None
    return Reduced(nest, (*others, statement)) if is_wide else None


def _same_loops(nest: Nest, statement: Reduce | Dot) -> list[int] | None:
    """The loops of ``statement`` in the order of ``nest``, which stores at each point what is reduced there."""
    for out, source in product((out for out, _ in nest.stores), statement.sources()):
        if out.buffer is not source.buffer or out.offset != source.offset:
            continue
        left = {loop for loop, n in enumerate(statement.extents) if n > 1}
        found = []
        for n, stride in zip(nest.extents, out.strides, strict=True):
            loop = next((x for x in left if (statement.extents[x], source.strides[x]) == (n, stride)), None)
            if loop is None:
                return None
            left.discard(loop)
            found.append(loop)
        return None if left else found
    return None


def _in_loops(statement: Reduce | Dot, loops: list[int]) -> Reduce | Dot:
    """``statement`` with its ``loops`` in that order."""

    def change(access: Access) -> Access:
        return replace(access, strides=tuple(access.strides[n] for n in loops))

    extents = tuple(statement.extents[n] for n in loops)
    found = replace(with_accesses(statement, change, change), extents=extents)
    if isinstance(found, Reduce):
        return replace(found, reduced=tuple(found.reduced[n] for n in loops))
    assert isinstance(found, Dot), "a reduction stays one"
    return found


def _vector_axis(nest: Nest, sums: list[_Sum], axes: list[list[int]]) -> int | None:
    """The axis of which several points are the lanes of vectors: the innermost, or that of the results.

    Where what is reduced lies side by side along neither, as in short rows, results are lanes of gathered terms.
    """
    kept = sum(not sums[0].reduced[axis[0]] for axis in axes)
    stored = [out for out, _ in nest.stores if out.buffer not in nest.elided]
    factors = [factor.access for each in sums for factor in each.factors]
    for axis, is_gathered in ((len(axes) - 1, False), (kept - 1, False), (kept - 1, True)):
        if axis < 0 or prod(nest.extents[loop] for loop in axes[axis]) < LANES:
            continue
        loop = axes[axis][-1]
        outs = [each.out for each in sums] if axis == kept - 1 else []
        strides = {access.strides[loop] for access in factors}
        is_even = is_gathered or (1 in strides and strides <= {0, 1})
        if is_even and all(access.strides[loop] == 1 for access in (*outs, *stored)):
            return axis
    return None


def _merged(nest: Nest, accesses: list[Access], reduced: tuple[bool, ...]) -> list[list[int]]:
    """The loops that act as one."""
    return merged_loops(nest.extents, [access.strides for access in accesses], reduced, nest.cut)


@dataclass
class _Result:
    """One result of each sum while it is made, or one in each lane; ``number`` is its point of the last kept axis."""

    number: str | None
    values: dict[int, Value]
    totals: list[str]
    errors: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)


class _Reduction:
    """The loops of some reductions: those that are kept outside, those that are reduced inside."""

    def __init__(self, points: Points, sums: list[_Sum], nest: Nest) -> None:
        self.points, self.sums, self.function = points, sums, points.function
        self.ops, self.body = points.function.ops, Body(points, nest, tuple(f for each in sums for f in each.factors))
        self.kept = sum(not sums[0].reduced[axis[0]] for axis in points.axes)
        points.vector_axis = _vector_axis(nest, sums, points.axes)
        self.across = points.vector_axis is not None and points.vector_axis >= self.kept
        cost = sum(call_us(node.call) for node in self.body.nodes if isinstance(node, Apply))
        is_long = points.vector_axis is not None and prod(points.extents) >= _LEAST_TOGETHER
        self.together = _MOST_TOGETHER if is_long and cost * len(sums) <= _CHEAP_US else 1
        lanes = 1 if points.vector_axis is None else LANES
        self.start = [_neutral(points.function, each, lanes) for each in sums]
        terms = 1
        for axis in range(self.kept, len(points.axes)):
            terms *= points.known_count(axis) // (LANES if axis == points.vector_axis else 1)
        self.in_parts = [each.call == "add" and each.dtype.kind == "f" and terms > _SUMMED_AT_ONCE for each in sums]

    def write(self) -> None:
        """All of it."""
        self._kept(0, {})

    def _kept(self, depth: int, values: dict[int, Value]) -> None:
        points, function = self.points, self.function
        if depth == self.kept:
            self._results(values, [None])
            return
        values = self.body.known(depth, values)
        count, start = points.count(depth), 0
        step = LANES if depth == points.vector_axis else 1
        if depth == self.kept - 1 and self.together > 1 and points.known_count(depth) >= self.together * step:
            start = self._whole(count, self.together * step)
            with function.loop(start, self.together * step) as number:
                numbers = [function.plus(number, function.code.index(n * step)) for n in range(self.together)]
                self._results(values, [each or number for each in numbers])
        if depth == points.vector_axis:
            for number, mask in vectors(function, count, start):
                points.at[depth], points.mask = number, mask
                self._kept(depth + 1, values)
            points.mask = None
        elif count != start:
            with function.loop(count, 1, start) as number:
                points.at[depth] = number
                self._kept(depth + 1, values)
        points.at.pop(depth, None)

    def _whole(self, count: int | str, step: int) -> int | str:
        """The largest multiple of ``step``, a power of two, up to ``count``."""
        if isinstance(count, int):
            return count // step * step
        return self.function.code.value(f"arith.andi {count}, {self.function.code.index(-step)} : i64")

    def _results(self, values: dict[int, Value], numbers: Sequence[str | None]) -> None:
        """The results at ``numbers`` of the innermost kept axis; None for the one at hand."""
        points, function = self.points, self.function
        results = [_Result(each, values, [function.held(start) for start in self.start]) for each in numbers]
        self._reduced(self.kept, results)
        for result in results:
            self._go_to(result)
            for what, total, start in zip(self.sums, result.totals, self.start, strict=True):
                found = function.read(total, start)
                points.store(what.out, all_lanes(self.ops, found, what.call) if self.across else found)

    def _go_to(self, result: _Result) -> None:
        if result.number is not None:
            self.points.at[self.kept - 1] = result.number

    def _reduced(self, depth: int, results: list[_Result]) -> None:
        """Combine into the totals; the innermost axis adds up pieces first where digits would be lost."""
        points, function = self.points, self.function
        inside = []
        for result in results:
            self._go_to(result)
            inside.append(replace(result, values=self.body.known(depth, result.values)))
        if depth == len(points.axes):
            for result in inside:
                self._combine(result)
            return
        count, step = points.known_count(depth), LANES if depth == points.vector_axis else 1
        if depth == len(points.axes) - 1 and any(self.in_parts):
            self._in_pieces(depth, inside, count, step)
        elif step == LANES:
            for number, mask in vectors(function, count):
                points.at[depth], points.mask = number, mask
                self._reduced(depth + 1, inside)
            points.mask = None
        else:
            with function.loop(count) as number:
                points.at[depth] = number
                self._reduced(depth + 1, inside)
        points.at.pop(depth, None)

    def _in_pieces(self, axis: int, results: list[_Result], count: int, step: int) -> None:
        points, function = self.points, self.function
        whole, size = count // step * step, _SUMMED_AT_ONCE * step
        for result in results:
            result.pieces = [function.held(start) for start in self.start]
            result.errors = [function.held(start) for start in self.start]
        with function.loop(whole, size) as first:
            for result in results:
                for piece, start in zip(result.pieces, self.start, strict=True):
                    function.write(piece, start)
            with function.loop(self._end(first, whole, size), step, first) as number:
                points.at[axis] = number
                self._reduced(axis + 1, [replace(each, totals=self._summed(each)) for each in results])
            for result in results:
                for n, is_in_parts in enumerate(self.in_parts):
                    if is_in_parts:
                        piece = function.read(result.pieces[n], self.start[n])
                        self._add_exactly(result.totals[n], result.errors[n], piece)
        if count > whole:
            points.at[axis] = function.code.index(whole)
            points.mask = function.lanes_below(function.code.index(count - whole))
            self._reduced(axis + 1, results)
            points.mask = None

    def _summed(self, result: _Result) -> list[str]:
        return [
            piece if is_in_parts else total
            for piece, total, is_in_parts in zip(result.pieces, result.totals, self.in_parts, strict=True)
        ]

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

    def _combine(self, result: _Result) -> None:
        """One more point into what is held."""
        ops, mask = self.ops, self.points.mask
        for what, place, start in zip(self.sums, result.totals, self.start, strict=True):
            before = self.function.read(place, start)
            read = [result.values[id(each)] for each in what.factors]
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


def _neutral(function: Function, what: _Sum, lanes: int) -> Value:
    call, dtype = what.call, what.dtype
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
    return function.code.constant(number, dtype, lanes)
