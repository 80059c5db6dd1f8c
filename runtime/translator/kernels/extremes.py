"""The places of the first of the largest or smallest elements: the best so far in registers, and where it was; or of
several, which are kept in order, since few others are larger than the least of them."""

from collections.abc import Sequence
from dataclasses import replace
from math import log, prod

import numpy as np

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import vectors
from ipu_mlir.runtime.translator.kernels.points import Cut, Points
from ipu_mlir.runtime.translator.kernels.scalar.code import I32, I64, LANES, NoKernel, Value, type_text
from ipu_mlir.runtime.translator.kernels.scalar.numpy_functions import all_lanes
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.statements import FirstExtreme, LibraryCall

_FEWEST_LANES = 4  # results from which a vector with a mask beats single numbers
_CALL_US, _SETTLED_US = 2.0, 40.0  # of NumPy: a call, and where it corrects what it found for NaN
_ACROSS_US = 0.0017  # saved per element, since NumPy is slow across rows
_SHORT, _SHORT_US = 32, 0.003  # elements of a row that NumPy compares one by one, and what is saved on each
_ROW_US, _ALONG_US = 0.06, -0.00085  # saved per row and per element of longer rows, along which NumPy is fast
_IN_LANES_US = -0.0001  # saved per element along rows where lanes find their own
_MOST_KEPT = 64  # places that are found: both parts of four vectors
_TOP_CALL_US, _TOP_US = 12.0, 0.008  # of NumPy's: the codelet, and each element that it looks at
_PUT_US = 0.0125  # of a kernel, for each vector of those that are kept

Begins = tuple[str | None, str | None]
"""Elements of the keys and of the result that come before a part of them."""


def extreme_us(statement: FirstExtreme) -> float:
    """Time that a kernel saves of that of NumPy, which compares the elements of a row many at a time."""
    results = prod(n for n, is_reduced in zip(statement.extents, statement.reduced, strict=True) if not is_reduced)
    call_us = _CALL_US if results == 1 or statement.call.endswith("_or_nan") else _SETTLED_US
    elements, steps = prod(statement.extents), zip(statement.source.strides, statement.reduced, strict=True)
    if (1, True) not in steps:
        return call_us + elements * _ACROSS_US
    if elements < results * _SHORT:
        return call_us + elements * _SHORT_US
    if statement.call.endswith("_or_nan"):
        return call_us + results * _ROW_US + elements * _IN_LANES_US
    return call_us + results * _ROW_US + elements * _ALONG_US


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
        self.is_maximum = statement.call.startswith("first_maximum")
        self.nan = statement.call.removeprefix("first_maximum").removeprefix("first_minimum")
        last = self.kept - 1
        self.is_along = (
            self.nan == "_or_nan"
            and len(points.axes) > self.kept
            and points.known_count(self.kept) >= LANES
            and points.stride(statement.source, self.kept) == 1
        )
        if self.is_along:
            points.vector_axis = self.kept
        elif last >= 0 and points.known_count(last) >= _FEWEST_LANES and points.stride(statement.out, last) == 1:
            points.vector_axis = last

    def write(self, depth: int) -> None:
        """The loops from axis ``depth`` on."""
        points, function = self.points, self.function
        if depth == self.kept:
            self._along() if self.is_along else self._one()
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

    def _along(self) -> None:
        """One result, of elements that lie side by side: the first of the best of those that each lane finds."""
        points, function, ops, statement, axis = self.points, self.function, self.ops, self.statement, self.kept
        source = statement.source.buffer.dtype
        start = function.code.constant(self._worst(), source, LANES)
        dense = ", ".join(map(str, range(LANES)))
        first = Value(function.code.first(f"arith.constant dense<[{dense}]> : {type_text(I32, LANES)}"), I32, LANES)
        best, place = function.held(start), function.held(first)
        for number, mask in vectors(function, points.known_count(axis)):
            points.at[axis], points.mask = number, mask
            before, element = function.read(best, start), points.load(statement.source, source)
            taken, _ = self._taken(before, element)
            taken = taken if mask is None else ops.both(taken, mask)
            at = ops.op("arith.addi", first, ops.cast(Value(number, I64), I32))
            function.write(place, ops.select(taken, at, function.read(place, first)))
            function.write(best, ops.select(taken, element, before))
        points.at.pop(axis)
        points.mask = None
        lanes, places = function.read(best, start), function.read(place, first)
        is_best = ops.compare(
            "oeq" if source.kind == "f" else "eq",
            lanes,
            all_lanes(ops, lanes, "maximum" if self.is_maximum else "minimum"),
        )
        if source.kind == "f":  # the best of all is no number as soon as that of a lane is none
            is_best = ops.op("arith.ori", is_best, ops.is_nan(lanes))
        among = ops.select(is_best, places, function.code.constant(np.iinfo(I32).max, I32, LANES))
        found = all_lanes(ops, among, "minimum")
        points.vector_axis = None
        points.store(statement.out, ops.cast(found, statement.out.buffer.dtype))
        points.vector_axis = axis

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


def top_k_us(call: LibraryCall) -> float:
    """Time of ``call`` by NumPy that a kernel saves; of a row in any order, few elements have to be put among the kept.

    The longer the row, the rarer it is that one is larger than those.
    """
    *stack, size = call.shapes[0]
    count = max(1, call.shapes[1][-1])
    put = prod(stack) * count * (1 + log(max(size / count, 1)))
    return _TOP_CALL_US + prod(stack) * size * _TOP_US - put * -(-count // LANES) * _PUT_US


def write_top_k(function: Function, call: LibraryCall) -> None:
    """Append what ``call`` does, row after row.

    Raises:
        NoKernel: many elements are asked for, or those of a row do not lie side by side.
    """
    (keys,), (out,), (shape, found) = call.inputs, call.outputs, call.shapes
    if found[-1] > _MOST_KEPT or (keys.strides[-1] != 1 and shape[-1] > 1):
        raise NoKernel("many elements are kept, or rows do not lie side by side")
    if function.place(keys.buffer) is function.place(out.buffer):
        raise NoKernel("keys are read where places are written")
    _top_rows(function, keys, out, (*shape[:-1], 1), (shape[-1], found[-1]), (None, None))


def _top_rows(
    function: Function, keys: Access, out: Access, stack: tuple[int, ...], sizes: tuple[int, int], begins: Begins
) -> None:
    """The loops over ``stack``, whose last dimension is one row."""
    if len(stack) == 1:
        _TopRow(function, keys, out, begins).write(*sizes)
        return
    with function.loop(stack[0]) as number:
        depth = len(keys.strides) - len(stack)
        of_keys, of_places = (
            function.plus(begin, function.times(number, access.strides[depth]))
            for begin, access in zip(begins, (keys, out), strict=True)
        )
        _top_rows(function, keys, out, stack[1:], sizes, (of_keys, of_places))


class _TopRow:
    """The places of one row: vectors of the largest keys so far in falling order, and of where they stand."""

    def __init__(self, function: Function, keys: Access, out: Access, begins: Begins) -> None:
        self.function, self.keys, self.out = function, keys, out
        self.begin, self.result = (
            function.plus(begin, function.code.index(access.offset)) or function.code.index(0)
            for begin, access in zip(begins, (keys, out), strict=True)
        )
        self.dtype = keys.buffer.dtype

    def write(self, size: int, count: int) -> None:
        """Keep the first ``count`` of ``size`` elements, and then those that are larger than the least of the kept."""
        function, code = self.function, self.function.code
        limits = np.iinfo(self.dtype)
        nothing = code.constant(limits.min, self.dtype, LANES), code.constant(np.iinfo(I32).max, I32, LANES)
        self.first = code.constant(limits.max, self.dtype, LANES), code.constant(-1, I32, LANES)
        self.kept = [[function.held(each) for each in nothing] for _ in range(-(-count // LANES))]
        self.least, self.last = function.held(code.constant(limits.min, self.dtype)), (count - 1) % LANES
        for pair in self.kept:
            for held, each in zip(pair, nothing, strict=True):
                function.write(held, each)
        with function.loop(count) as number:
            self._insert(self._key(number), number)
        for number, mask in vectors(function, size - count):
            start = function.plus(number, code.index(count)) or number
            larger = self._is_larger(self._key(start, LANES, mask))
            larger = larger if mask is None else function.ops.both(larger, mask)
            some = code.value(f"vector.reduction <or>, {larger.name} : {larger.type} into i1")
            with function.branch(some), function.loop(LANES if mask is None else (size - count) % LANES) as lane:
                place = function.plus(start, lane) or start
                key = self._key(place)
                with function.branch(self._is_larger(key).name):
                    self._insert(key, place)
        for n in range(count):
            places = function.read(self.kept[n // LANES][1], self.first[1])
            function.store(
                function.pointer(self.out.buffer), self._place_of(code.index(n)), self._lane(places, n % LANES)
            )

    def _insert(self, key: Value, place: str) -> None:
        """Put an element behind those that are kept and larger, or as large and first; all others move on by one."""
        function, ops = self.function, self.function.ops
        new = key, ops.cast(Value(place, I64), I32)
        kept = [[function.read(*each) for each in zip(pair, self.first, strict=True)] for pair in self.kept]
        for held, previous, own in zip(self.kept, [self.first, *kept], kept, strict=False):
            before = [
                ops.shuffled(*both, list(range(LANES - 1, 2 * LANES - 1))) for both in zip(previous, own, strict=True)
            ]
            stays, is_next = self._is_before(own, new), self._is_before(before, new)
            for place_of, mine, one, other in zip(held, own, before, new, strict=True):
                function.write(place_of, ops.select(stays, mine, ops.select(is_next, other, one)))
        function.write(self.least, self._lane(function.read(self.kept[-1][0], self.first[0]), self.last))

    def _lane(self, value: Value, lane: int) -> Value:
        return Value(
            self.function.code.value(
                f"vector.extract {value.name}[{lane}] : {type_text(value.dtype)} from {value.type}"
            ),
            value.dtype,
        )

    def _is_before(self, kept: Sequence[Value], new: Sequence[Value]) -> Value:
        """True where an element is larger than ``new``, or as large and stands before it."""
        ops = self.function.ops
        is_first = ops.both(ops.compare("eq", kept[0], new[0]), ops.compare("slt", kept[1], new[1]))
        return ops.op("arith.ori", ops.compare("sgt", kept[0], new[0]), is_first)

    def _place_of(self, number: str) -> str:
        """Where the result for that number lies."""
        return self.function.plus(self.result, self.function.times(number, self.out.strides[-1])) or self.result

    def _is_larger(self, keys: Value) -> Value:
        return self.function.ops.compare("sgt", keys, self.function.read(self.least, Value("", self.dtype)))

    def _key(self, at: str, lanes: int = 1, mask: Value | None = None) -> Value:
        function = self.function
        place = function.plus(self.begin, at) or at
        return function.load(function.pointer(self.keys.buffer), place, self.dtype, lanes, mask)
