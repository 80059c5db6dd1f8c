"""Reductions with any body, and running sums, products and extremes of elements: running values in registers."""

from dataclasses import dataclass, replace
from math import prod

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import vectors
from ipu_mlir.runtime.translator.kernels.points import Points
from ipu_mlir.runtime.translator.kernels.scalar.code import BOOL, LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.scalar.numpy_functions import apply_call
from ipu_mlir.runtime.translator.statements.access import Access, Buffer
from ipu_mlir.runtime.translator.statements.expression import Apply, Gather, Read, moving_accesses, postorder
from ipu_mlir.runtime.translator.statements.statements import LibraryCall, Scan
from ipu_mlir.runtime.translator.statements.transform import with_accesses

_FEWEST_LANES = 4  # results from which a vector with a mask beats single numbers
_CALL_US, _ELEMENT_US = 0.5, 0.00013  # of NumPy, for each operation at each point that is reduced
_TOGETHER = 4  # rows whose running values do not wait for each other
_CODELET_US, _RUNNING_US = 5.0, 0.002  # of NumPy's: the codelet, and each element

RUNNING = {
    f"scan_{name}{end}": call
    for end in ("", "_from_end")
    for name, call in (("add", "add"), ("mul", "multiply"), ("max", "maximum"), ("min", "minimum"))
}
"""The codelets that have running values, and the calls that combine two of them."""


def scan_us(scan: Scan) -> float:
    """Time by NumPy, which goes from point to point in Python and computes all results at a time."""
    calls = sum(isinstance(node, Apply | Gather) for node in postorder(scan.values))
    rounds = prod(n for n, is_reduced in zip(scan.extents, scan.reduced, strict=True) if is_reduced)
    return calls * (rounds * _CALL_US + prod(scan.extents) * _ELEMENT_US)


def write_scan(function: Function, scan: Scan) -> None:
    """Append the loops of ``scan``: those of its results, and inside the points that are reduced, in their order.

    Raises:
        NoKernel: a result is read where another one is.
    """
    if 0 in scan.extents:
        return
    outer = [n for n, is_reduced in enumerate(scan.reduced) if not is_reduced]
    order = sorted(outer, key=lambda n: (-scan.outputs[0].strides[n], n))
    order += [n for n, is_reduced in enumerate(scan.reduced) if is_reduced]

    def change(access: Access) -> Access:
        return replace(access, strides=tuple(access.strides[n] for n in order))

    found = with_accesses(scan, change, change)
    assert isinstance(found, Scan), "a scan stays one"
    reduced = tuple(scan.reduced[n] for n in order)
    accesses = [*moving_accesses(found.values), *found.outputs]
    points = Points.over(function, tuple(scan.extents[n] for n in order), accesses, reduced)
    _Scan(points, found, reduced).write(0)


class _Scan:
    """The loops of ``scan``; ``outputs`` has the number of each result by where it lies."""

    def __init__(self, points: Points, scan: Scan, reduced: tuple[bool, ...]) -> None:
        self.points, self.scan, self.function = points, scan, points.function
        self.kept = sum(not reduced[axis[0]] for axis in points.axes)
        last = self.kept - 1
        if last >= 0 and points.known_count(last) >= _FEWEST_LANES:
            side_by_side = all(points.stride(out, last) == 1 for out in scan.outputs)
            points.vector_axis = last if side_by_side else None
        self.nodes = postorder(scan.values)
        self.outputs = {self._place(out): number for number, out in enumerate(scan.outputs)}
        written = {place for place, _, _ in self.outputs}
        for node in self.nodes:
            if not isinstance(node, Read | Gather) or self.function.place(node.access.buffer) not in written:
                continue
            if isinstance(node, Gather) or self._place(node.access) not in self.outputs:
                raise NoKernel("a reduction reads other results than the one at hand")

    def _place(self, access: Access) -> tuple[Buffer, int, tuple[int, ...]]:
        return self.function.place(access.buffer), access.offset, access.strides

    def write(self, depth: int) -> None:
        """The loops from axis ``depth`` on."""
        points, function = self.points, self.function
        if depth == self.kept:
            self._reduced_points()
        elif depth != points.vector_axis:
            with function.loop(points.known_count(depth)) as number:
                points.at[depth] = number
                self.write(depth + 1)
        else:
            for number, mask in vectors(function, points.known_count(depth)):
                points.at[depth], points.mask = number, mask
                self.write(depth + 1)
            points.mask = None
        points.at.pop(depth, None)

    def _reduced_points(self) -> None:
        """All points that are reduced to the results at hand."""
        points, function = self.points, self.function
        lanes = 1 if points.vector_axis is None else LANES
        start = [function.ops.wide(points.load(out, out.buffer.dtype), lanes) for out in self.scan.outputs]
        held = [function.held(value) for value in start]
        self._combine(self.kept, held, start)
        for out, place, value in zip(self.scan.outputs, held, start, strict=True):
            points.store(out, function.read(place, value))

    def _combine(self, depth: int, held: list[str], start: list[Value]) -> None:
        points, function, ops = self.points, self.function, self.function.ops
        if depth < len(points.axes):
            with function.loop(points.known_count(depth)) as number:
                points.at[depth] = number
                self._combine(depth + 1, held, start)
            points.at.pop(depth)
            return
        values: dict[int, Value] = {}
        for node in self.nodes:
            number = self.outputs.get(self._place(node.access)) if isinstance(node, Read) else None
            if number is None:
                values[id(node)] = points.value(node, values)
            else:
                values[id(node)] = ops.bits(function.read(held[number], start[number]), node.dtype)
        for place, root, value in zip(held, self.scan.values, start, strict=True):
            function.write(place, ops.wide(ops.bits(values[id(root)], value.dtype), value.lanes))


def running_us(call: LibraryCall) -> float:
    """Time by NumPy, which goes from element to element."""
    return _CODELET_US + prod(call.shapes[0]) * _RUNNING_US


def write_running(function: Function, call: LibraryCall) -> None:
    """Append the loops of a codelet of ``RUNNING``: rows in registers, or whole planes, each from the one before.

    Raises:
        NoKernel: the result lies where other elements are read.
    """
    (source,), (out,) = call.inputs, call.outputs
    if function.place(source.buffer) is function.place(out.buffer) and source != out:
        raise NoKernel("elements are read where others are written")
    _, steps, inner = call.shapes[0]
    if 0 in call.shapes[0]:
        return
    if call.codelet.endswith("_from_end"):
        source, out = (_turned(access, steps) for access in (source, out))
    running = _Running(function, source, out, RUNNING[call.codelet], call.shapes[0])
    if inner >= _FEWEST_LANES and source.strides[2] == out.strides[2] == 1:
        running.planes()
    else:
        running.rows()


def _turned(access: Access, steps: int) -> Access:
    outer, step, inner = access.strides
    return replace(access, offset=access.offset + (steps - 1) * step, strides=(outer, -step, inner))


@dataclass(frozen=True)
class _Running:
    """The loops of one scan along the middle one of ``shape``."""

    function: Function
    source: Access
    out: Access
    call: str
    shape: tuple[int, ...]

    def planes(self) -> None:
        """Vectors of one step after those of the one before, which are still in the nearest cache."""
        function, (outer, steps, inner) = self.function, self.shape
        zero = function.code.index(0)
        with function.loop(outer) as row:
            for number, mask in vectors(function, inner):
                lanes = function.ops.wide(self._load(self.source, (row, zero, number), LANES, mask), LANES)
                self._store((row, zero, number), lanes, mask)
            with function.loop(steps - 1) as before:
                step = function.plus(before, function.code.index(1)) or zero
                for number, mask in vectors(function, inner):
                    held = self._load(self.out, (row, before, number), LANES, mask)
                    element = self._load(self.source, (row, step, number), LANES, mask)
                    self._store((row, step, number), self._combined(held, element), mask)

    def rows(self) -> None:
        """Several rows at a time, each element after the one before."""
        function, (outer, steps, inner) = self.function, self.shape
        step, dtype = self.source.strides[1], self.source.buffer.dtype
        is_even = step == self.out.strides[1] and abs(step) == 1 and dtype == self.out.buffer.dtype != BOOL
        squares = outer // LANES * LANES if is_even and steps >= LANES else 0
        whole = squares + (outer - squares) // _TOGETHER * _TOGETHER
        with function.loop(inner) as column:
            if squares:
                with function.loop(squares, LANES) as row:
                    self._squares(row, column)
            with function.loop(whole, _TOGETHER, squares) as row:
                self._together([function.plus(row, function.code.index(n)) or row for n in range(_TOGETHER)], column)
            with function.loop(outer, 1, whole) as row:
                self._together([row], column)

    def _squares(self, row: str, column: str) -> None:
        """As many rows as lanes, in squares that are turned, so that a vector has one element of each row."""
        function, steps = self.function, self.shape[1]
        count = steps % LANES or LANES
        held = function.held(self._square(row, function.code.index(0), column, count, None))
        with function.loop(steps, LANES, count) as step:
            like = function.code.constant(0, self.source.buffer.dtype, LANES)
            function.write(held, self._square(row, step, column, LANES, function.read(held, like)))

    def _square(self, row: str, step: str, column: str, count: int, before: Value | None) -> Value:
        """The running values of ``count`` elements from ``step`` on, after ``before``; the last of them."""
        function, ops, code = self.function, self.function.ops, self.function.code
        mask = None if count == LANES else function.lanes_below(code.index(count))
        is_backwards = self.source.strides[1] < 0
        first = function.plus(step, code.index(count - 1)) or step if is_backwards else step
        points = [(function.plus(row, code.index(n)) or row, first, column) for n in range(LANES)]
        elements = ops.turned([self._load(self.source, point, LANES, mask) for point in points])
        turns = range(count)[::-1] if is_backwards else range(count)
        for turn in turns:
            before = elements[turn] if before is None else self._combined(before, elements[turn])
            elements[turn] = before
        for point, value in zip(points, ops.turned(elements), strict=True):
            self._store(point, value, mask)
        assert before is not None, "there are elements"
        return before

    def _together(self, rows: list[str], column: str) -> None:
        function = self.function
        zero = function.code.index(0)
        first = [self._load(self.source, (row, zero, column)) for row in rows]
        held = [function.held(value) for value in first]
        for row, value in zip(rows, first, strict=True):
            self._store((row, zero, column), value)
        with function.loop(self.shape[1], 1, 1) as step:
            elements = [self._load(self.source, (row, step, column)) for row in rows]
            for row, place, element in zip(rows, held, elements, strict=True):
                value = self._combined(function.read(place, element), element)
                function.write(place, value)
                self._store((row, step, column), value)

    def _combined(self, held: Value, element: Value) -> Value:
        return apply_call(self.function.ops, self.call, element.dtype, [held, element])

    def _load(self, access: Access, point: tuple[str, ...], lanes: int = 1, mask: Value | None = None) -> Value:
        function = self.function
        return function.load(function.pointer(access.buffer), self._at(access, point), access.buffer.dtype, lanes, mask)

    def _store(self, point: tuple[str, ...], value: Value, mask: Value | None = None) -> None:
        self.function.store(self.function.pointer(self.out.buffer), self._at(self.out, point), value, mask)

    def _at(self, access: Access, point: tuple[str, ...]) -> str:
        """The number of the element of ``access`` at ``point``."""
        function, place = self.function, self.function.code.index(access.offset)
        for number, stride in zip(point, access.strides, strict=True):
            place = function.plus(place, function.times(number, stride)) or place
        return place
