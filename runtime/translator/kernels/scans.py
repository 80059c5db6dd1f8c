"""Reductions with any body: running values in registers, for several results at a time."""

from dataclasses import replace
from math import prod

from ipu_mlir.runtime.translator.kernels.code import LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import vectors
from ipu_mlir.runtime.translator.kernels.points import Points
from ipu_mlir.runtime.translator.statements.access import Access, Buffer
from ipu_mlir.runtime.translator.statements.expression import Apply, Gather, Read, moving_accesses, postorder
from ipu_mlir.runtime.translator.statements.statements import Scan
from ipu_mlir.runtime.translator.statements.transform import with_accesses

_FEWEST_LANES = 4  # results from which a vector with a mask beats single numbers
_CALL_US, _ELEMENT_US = 0.5, 0.00013  # of NumPy, for each operation at each point that is reduced


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
