"""Scatters: one update after the other, whole rows of them as vectors."""

from collections.abc import Callable, Set
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import Nest, vectors
from ipu_mlir.runtime.translator.kernels.points import Points
from ipu_mlir.runtime.translator.kernels.scalar.code import I64, LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.scalar.numpy_functions import apply_call
from ipu_mlir.runtime.translator.optimize.forward_copies import copied_by, reading_through
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, digits_of_cover
from ipu_mlir.runtime.translator.statements.cost import call_us
from ipu_mlir.runtime.translator.statements.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    Read,
    bits,
    loops_of,
    moving_accesses,
    postorder,
    rewrite,
)
from ipu_mlir.runtime.translator.statements.statements import Elementwise, LibraryCall, Origin

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
_DEAREST_US, _MOST_US = 17.0, 100.0  # of a call and of all, for 64K elements: more is computed in vectors, before


def updates_of(call: LibraryCall) -> tuple[int, ...]:
    """The shape of all updates of a scatter."""
    return np.broadcast_shapes(*call.shapes[: len(call.shapes[-1]) + 2])


@dataclass(frozen=True)
class Scattered:
    """The scatter ``call`` of ``values``: its indexes, guard and update at the points of all updates."""

    call: LibraryCall
    values: tuple[Expression, ...]


def scattered(call: LibraryCall) -> Scattered:
    """``call``, with what it is given in memory."""
    whole, given = updates_of(call), len(call.shapes[-1]) + 2
    accesses = [
        replace(access, strides=_spread(access.strides, shape, len(whole)))
        for access, shape in zip(call.inputs[:given], call.shapes, strict=False)
    ]
    return Scattered(call, tuple(Read(access.buffer.dtype, access) for access in accesses))


def with_computed(
    scatter: Scattered, nest: Nest, own: Set[Buffer], written: Set[Buffer], place: Callable[[Buffer], Buffer]
) -> Scattered | None:
    """``scatter`` computing, update by update, what it reads of ``nest``, all of which is its ``own``.

    None if that is dear, or cannot be said: ``written`` are places that change before the scatter is done.
    """
    changed = written | {place(out.buffer) for out, _ in nest.stores}
    stored: dict[tuple[Buffer, int, tuple[int, ...]], Expression] = {}
    made: dict[Buffer, tuple[Access, Expression]] = {}

    def at_hand(node: Expression) -> Expression:
        access = node.access if isinstance(node, Read) else None
        known = access and stored.get((place(access.buffer), access.offset, access.strides))
        return node if known is None else bits(known, node.dtype)

    for group in nest.groups:
        values = rewrite([value for _, value in group], at_hand)
        for (out, _), value in zip(group, values, strict=True):
            stored[place(out.buffer), out.offset, out.strides] = value
            made[out.buffer] = out, value
    whole = updates_of(scatter.call)

    def computed(node: Expression) -> Expression:
        if not isinstance(node, Read) or node.access.buffer not in own:
            return node
        out, value = made[node.access.buffer]
        if digits_of_cover(out, nest.extents) is None or out.buffer.narrow is not None:
            return node
        statement, through = Elementwise(nest.extents, Origin("", ""), (out,), (value,)), dict[Access, Access]()
        for access in moving_accesses([value]):
            found = reading_through(node.access, whole, copied_by(statement, access))
            if found is None or place(access.buffer) in changed:
                return node
            through[access] = found

        def moved(inner: Expression) -> Expression:
            return replace(inner, access=through[inner.access]) if isinstance(inner, Read | Gather) else inner

        return bits(rewrite([value], moved)[0], node.dtype)

    values = tuple(rewrite(scatter.values, computed))
    nodes = postorder(values)
    if any(isinstance(node, Read) and node.access.buffer in own for node in nodes):
        return None
    costs = [
        call_us(node.call) if isinstance(node, Apply) else _DEAREST_US * isinstance(node, Gather) for node in nodes
    ]
    return replace(scatter, values=values) if max(costs) <= _DEAREST_US and sum(costs) <= _MOST_US else None


def write_scatter(function: Function, scatter: LibraryCall | Scattered) -> None:
    """Append the loops over the updates of ``scatter``."""
    if isinstance(scatter, LibraryCall):
        scatter = scattered(scatter)
    call = scatter.call
    (out,) = call.outputs
    if out.buffer.narrow is not None:
        raise NoKernel("narrow floats are rounded when they are combined")
    if not call.updated[0]:
        raise NoKernel("a scatter changes what is there")
    if any(function.place(each.buffer) is function.place(out.buffer) for each in moving_accesses(scatter.values)):
        raise NoKernel("a scatter reads what it writes")
    if 0 not in updates_of(call):
        _Scatter(function, call, updates_of(call), scatter.values).write()


def _spread(strides: tuple[int, ...], shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The strides of an array that is broadcast to ``rank`` axes."""
    return (0,) * (rank - len(shape)) + tuple(s if n > 1 else 0 for s, n in zip(strides, shape, strict=True))


@dataclass
class _Scatter:
    """The loops of ``call`` over updates of shape ``whole``; ``values`` are its indexes, guard and update there."""

    function: Function
    call: LibraryCall
    whole: tuple[int, ...]
    values: tuple[Expression, ...]
    points: Points = field(init=False)

    def __post_init__(self) -> None:
        self.points = Points(self.function, self.whole, [[n] for n, size in enumerate(self.whole) if size > 1])
        self.out, self.extents = self.call.outputs[0], self.call.shapes[-1]
        self.rank = len(self.extents)
        *self.indexes, self.guard, self.update = self.values
        if self._is_by_rows():
            self.points.vector_axis = len(self.points.axes) - 1

    def _is_by_rows(self) -> bool:
        """True if the last axis counts the elements of rows that lie side by side, here and there."""
        if not self.rank or self.whole[-1] < _FEWEST_LANES:
            return False
        axis = _counting_axis(self.call.inputs[self.rank - 1], self.call.shapes[self.rank - 1], self.extents[-1])
        others = (*self.indexes[:-1], self.guard)
        last = len(self.whole) - 1
        stands = all(last not in loops_of(value) for value in others)
        is_side_by_side = all(access.strides[-1] in (0, 1) for access in moving_accesses([self.update]))
        return axis == -1 and stands and self.out.strides[-1] == 1 and is_side_by_side

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
        wanted = self.indexes[: self.rank - (self.points.vector_axis is not None)]
        known = self._known((*wanted, self.guard), {})
        for dimension, value in enumerate(wanted):
            index = known[id(value)]
            if index.dtype.kind != "i":
                raise NoKernel("an index has a sign")
            at = ops.cast(index, I64).name
            tests.append(code.value(f"arith.cmpi ult, {at}, {code.index(self.extents[dimension])} : i64"))
            begin = function.plus(begin, function.times(at, self.out.strides[dimension]))
        if not _is_always(self.guard):
            tests.append(ops.cast(known[id(self.guard)], np.dtype(bool)).name)
        for test in tests:
            inside = test if inside is None else code.value(f"arith.andi {inside}, {test} : i1")
        if inside is None:
            self._updates(begin, known)
            return
        with function.branch(inside):
            self._updates(begin, known)

    def _known(self, roots: tuple[Expression, ...], values: dict[int, Value]) -> dict[int, Value]:
        """``values``, and those that ``roots`` need at the point at hand."""
        values = dict(values)
        for node in postorder(roots):
            if id(node) not in values:
                values[id(node)] = self.points.value(node, values)
        return values

    def _updates(self, begin: str | None, known: dict[int, Value]) -> None:
        points, axis = self.points, self.points.vector_axis
        if axis is None:
            self._combine(begin, 1, known)
            return
        for number, mask in vectors(self.function, points.known_count(axis)):
            points.at[axis], points.mask = number, mask
            self._combine(self.function.plus(begin, number), LANES, known)
        points.at.pop(axis)
        points.mask = None

    def _combine(self, place: str | None, lanes: int, known: dict[int, Value]) -> None:
        function, dtype, mask = self.function, self.out.buffer.dtype, self.points.mask
        pointer, at = function.pointer(self.out.buffer), place or function.code.index(0)
        new = self._known((self.update,), known)[id(self.update)]
        name = COMBINE[self.call.codelet]
        if name is not None:
            new = apply_call(function.ops, name, dtype, [function.load(pointer, at, dtype, lanes, mask), new])
        function.store(pointer, at, function.ops.wide(new, lanes), mask)


def _is_always(guard: Expression) -> bool:
    """True if ``guard`` is known to hold for all updates."""
    if isinstance(guard, Const):
        return bool(guard.value)
    known = guard.access.buffer.value if isinstance(guard, Read) else None
    return known is not None and bool(known.all())


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
