"""Scatters: one update after the other, whole rows of them as vectors."""

from dataclasses import dataclass, field
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.kernels.code import I64, LANES, NoKernel
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import vectors
from ipu_mlir.runtime.translator.kernels.numpy_functions import apply_call
from ipu_mlir.runtime.translator.kernels.points import Points
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.statements import LibraryCall

COMBINE = {
    "scatter_set": None,
    "scatter_add": "add",
    "scatter_mul": "multiply",
    "scatter_max": "maximum",
    "scatter_min": "minimum",
}
"""The ufunc by which scatters combine a new element with what they find; None if they replace it."""

_CALL_US, _ELEMENT_US, _ROW_US = 12.0, 0.011, 0.0017  # of NumPy's: a scatter, and each element, in a row
_FEWEST_LANES = 4  # elements of a row from which a vector with a mask beats single numbers


def updates_of(call: LibraryCall) -> tuple[int, ...]:
    """The shape of all updates of a scatter."""
    return np.broadcast_shapes(*call.shapes[: len(call.shapes[-1]) + 2])


def write_scatter(function: Function, call: LibraryCall) -> None:
    """Append the loops over the updates of ``call``."""
    (out,) = call.outputs
    whole, rank = updates_of(call), len(call.shapes[-1])
    if out.buffer.narrow is not None:
        raise NoKernel("narrow floats are rounded when they are combined")
    if not call.updated[0]:
        raise NoKernel("a scatter changes what is there")
    given = call.inputs[: rank + 2]
    if any(function.place(each.buffer) is function.place(out.buffer) for each in given):
        raise NoKernel("a scatter reads what it writes")
    if 0 in whole:
        return
    accesses = [
        Access(access.buffer, access.offset, _spread(access.strides, shape, len(whole)))
        for access, shape in zip(given, call.shapes, strict=False)
    ]
    _Scatter(function, call, whole, accesses).write()


def _spread(strides: tuple[int, ...], shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The strides of an array that is broadcast to ``rank`` axes."""
    return (0,) * (rank - len(shape)) + tuple(s if n > 1 else 0 for s, n in zip(strides, shape, strict=True))


@dataclass
class _Scatter:
    """The loops of ``call`` over updates of shape ``whole``; ``accesses`` are its indexes, guard and update there."""

    function: Function
    call: LibraryCall
    whole: tuple[int, ...]
    accesses: list[Access]
    points: Points = field(init=False)

    def __post_init__(self) -> None:
        self.points = Points(self.function, self.whole, [[n] for n, size in enumerate(self.whole) if size > 1])
        self.out, self.extents = self.call.outputs[0], self.call.shapes[-1]
        self.rank = len(self.extents)
        *self.indexes, self.guard, self.update = self.accesses
        if self._is_by_rows():
            self.points.vector_axis = len(self.points.axes) - 1

    def _is_by_rows(self) -> bool:
        """True if the last axis counts the elements of rows that lie side by side, here and there."""
        if not self.rank or self.whole[-1] < _FEWEST_LANES:
            return False
        axis = _counting_axis(self.call.inputs[self.rank - 1], self.call.shapes[self.rank - 1], self.extents[-1])
        others = (*self.indexes[:-1], self.guard)
        stands = all(not access.strides[-1] for access in others)
        return axis == -1 and stands and self.out.strides[-1] == 1 and self.update.strides[-1] in (0, 1)

    def write(self, depth: int = 0) -> None:
        """The loops from axis ``depth`` on."""
        points = self.points
        if depth == len(points.axes) or depth == points.vector_axis:
            self._row()
            return
        with self.function.loop(points.known_count(depth)) as number:
            points.at[depth] = number
            self.write(depth + 1)
        points.at.pop(depth)

    def _row(self) -> None:
        """One update, or a row of them: nothing, if it is not wanted or lies outside."""
        function, code, ops = self.function, self.function.code, self.function.ops
        begin: str | None = code.index(self.out.offset)
        inside: str | None = None
        tests = []
        for dimension in range(self.rank - (self.points.vector_axis is not None)):
            index = self.points.load(self.indexes[dimension], self.indexes[dimension].buffer.dtype)
            if index.dtype.kind != "i":
                raise NoKernel("an index has a sign")
            at = ops.cast(index, I64).name
            tests.append(code.value(f"arith.cmpi ult, {at}, {code.index(self.extents[dimension])} : i64"))
            begin = function.plus(begin, function.times(at, self.out.strides[dimension]))
        known = self.guard.buffer.value
        if known is None or not known.all():
            tests.append(ops.cast(self.points.load(self.guard, self.guard.buffer.dtype), np.dtype(bool)).name)
        for test in tests:
            inside = test if inside is None else code.value(f"arith.andi {inside}, {test} : i1")
        if inside is None:
            self._updates(begin)
            return
        with function.branch(inside):
            self._updates(begin)

    def _updates(self, begin: str | None) -> None:
        points, axis = self.points, self.points.vector_axis
        if axis is None:
            self._combine(begin, 1)
            return
        for number, mask in vectors(self.function, points.known_count(axis)):
            points.at[axis], points.mask = number, mask
            self._combine(self.function.plus(begin, number), LANES)
        points.at.pop(axis)
        points.mask = None

    def _combine(self, place: str | None, lanes: int) -> None:
        function, dtype, mask = self.function, self.out.buffer.dtype, self.points.mask
        pointer, at = function.pointer(self.out.buffer), place or function.code.index(0)
        new = self.points.load(self.update, dtype)
        name = COMBINE[self.call.codelet]
        if name is not None:
            new = apply_call(function.ops, name, dtype, [function.load(pointer, at, dtype, lanes, mask), new])
        function.store(pointer, at, function.ops.wide(new, lanes), mask)


def points_of(call: LibraryCall) -> int:
    """The number of elements that a scatter updates."""
    return prod(updates_of(call))


def scatter_us(call: LibraryCall) -> float:
    """Time of a scatter by NumPy: elements have an index each, those of a row one."""
    rank = len(call.shapes[-1])
    by_rows = rank and _counting_axis(call.inputs[rank - 1], call.shapes[rank - 1], call.shapes[-1][-1]) == -1
    return _CALL_US + points_of(call) * (_ROW_US if by_rows else _ELEMENT_US)


def _counting_axis(index: Access, shape: tuple[int, ...], extent: int) -> int | None:
    """The axis, from the last one, along which ``index`` is 0, 1, 2, ... and nothing else, for a whole dimension."""
    long = [axis for axis, n in enumerate(shape) if n > 1]
    value = index.buffer.value
    if value is None or len(long) != 1 or shape[long[0]] != extent or (stride := index.strides[long[0]]) < 1:
        return None
    seen = value[index.offset :][: extent * stride : stride]
    return long[0] - len(shape) if np.array_equal(seen, np.arange(extent)) else None
