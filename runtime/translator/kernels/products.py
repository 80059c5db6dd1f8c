"""Products in registers: a few rows by a few vectors of columns at a time, their terms added one after the other.

BLAS wants matrices, so a convolution is copied window by window for it; and it takes longer to begin than some products
take. Here the factors are read where they lie. Each sum adds its terms in the order of the loops, whatever is in
registers beside it: results have the same bits for all tiles, blocks and threads.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod

from numpy._core._multiarray_umath import __cpu_features__

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import ordered, write_nest
from ipu_mlir.runtime.translator.kernels.points import Cut, Points
from ipu_mlir.runtime.translator.kernels.product_forms import is_tiny_stack, lanes_of, turned
from ipu_mlir.runtime.translator.kernels.reductions import write_reduction
from ipu_mlir.runtime.translator.kernels.scalar.code import LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.thin_products import thin, write_thin_product
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.contraction import loop_kinds
from ipu_mlir.runtime.translator.statements.statements import Dot

MOST_VECTORS, MOST_ROWS = (2, 8) if __cpu_features__.get("AVX512F") else (1, 6)  # of a tile
_SUMS = MOST_VECTORS * MOST_ROWS  # of 16 f32 each: they fit into registers with what they are made of
_SHORT = 1 << 19  # terms, up to which a tile has one vector: a fifth slower, and less for LLVM to do


def sizes(total: int, most: int) -> Iterator[tuple[int, int, int]]:
    """``total`` in as few parts of at most ``most`` as it takes, of almost one size: (start, size, how many).

    >>> list(sizes(64, 6)), list(sizes(5, 4)), list(sizes(3, 4))
    ([(0, 6, 9), (54, 5, 2)], [(0, 3, 1), (3, 2, 1)], [(0, 3, 1)])
    """
    parts = -(-total // most)
    size, larger = divmod(total, parts)
    if larger:
        yield 0, size + 1, larger
    yield (size + 1) * larger, size, parts - larger


def write_product(function: Function, dot: Dot, loop: int | None = None, part: Cut | None = None) -> None:
    """Append the loops of ``dot``; ``part`` of ``loop`` only.

    Raises:
        NoKernel: there is no form of it.
    """
    form = thin(dot)
    if form is not None and (loop is None or (loop == form.many and form.is_along)):
        write_thin_product(function, dot, form, part)
        return
    if is_tiny_stack(dot, loop):
        _write_stack(function, dot, loop, part)
        return
    lanes = lanes_of(dot)
    if lanes is None and (found := turned(dot, loop)):
        copy, dot = found
        write_nest(function, ordered(copy))
        lanes = lanes_of(dot)
    if lanes in (None, loop):
        write_reduction(function, dot, loop, part)
        return
    _check(function, dot)

    def outermost_first(n: int) -> tuple[bool, bool, bool, int, int]:
        is_summed = not dot.out.strides[n]
        moving = max(dot.a.strides[n], dot.b.strides[n]) if is_summed else dot.out.strides[n]
        return n != loop, is_summed, n == lanes, -moving, n

    order = sorted(range(len(dot.extents)), key=outermost_first)
    a, b, out = (replace(each, strides=tuple(each.strides[n] for n in order)) for each in (dot.a, dot.b, dot.out))
    extents = tuple(dot.extents[n] for n in order)
    kinds = [(not out.strides[n], order[n] == loop) for n in range(len(order))]
    points = Points.over(function, extents, [a, b, out], kinds, part)
    _Product(points, (a, b), out).write()


def _check(function: Function, dot: Dot) -> None:
    """Raise if ``dot`` has no form in registers."""
    if dot.out.buffer.dtype.kind not in "fiu" or len({each.buffer.dtype for each in (dot.a, dot.b, dot.out)}) > 1:
        raise NoKernel("a product has one type")
    if 0 in dot.extents:
        raise NoKernel("a sum of nothing")
    if any(function.place(each.buffer) is function.place(dot.out.buffer) for each in (dot.a, dot.b)):
        raise NoKernel("a product reads what it writes")


def _added(function: Function, a: Value, b: Value, before: Value) -> Value:
    """``before`` and one more term."""
    if before.dtype.kind == "f":
        return function.ops.op("math.fma", a, b, before)
    return function.ops.op("arith.addi", function.ops.op("arith.muli", a, b), before)


def _write_stack(function: Function, dot: Dot, loop: int | None, part: Cut | None) -> None:
    """Matrix after matrix of a stack, all of one written out: its numbers are in registers."""
    _check(function, dot)
    kinds, dtype = loop_kinds(dot), dot.out.buffer.dtype
    order = sorted(kinds.batch, key=lambda n: (n != loop, -dot.out.strides[n], n))
    stack = [replace(each, strides=tuple(each.strides[n] for n in order)) for each in (dot.a, dot.b, dot.out)]
    points = Points.over(function, tuple(dot.extents[n] for n in order), stack, cut=part and replace(part, loop=0))

    def at(number: int, place: dict[int, int]) -> Access:
        steps = (dot.a, dot.b, dot.out)[number].strides
        return replace(stack[number], offset=stack[number].offset + sum(steps[n] * i for n, i in place.items()))

    def places(loops: tuple[int, ...]) -> list[dict[int, int]]:
        return [dict(zip(loops, each, strict=True)) for each in product(*(range(dot.extents[n]) for n in loops))]

    with points.loops(range(len(points.axes))):
        held: dict[Access, Value] = {}
        for kept in places((*kinds.rows, *kinds.columns)):
            total = function.code.constant(0, dtype)
            for summed in places(kinds.summed):
                a, b = (at(number, kept | summed) for number in (0, 1))
                held.update({each: points.load(each, dtype) for each in (a, b) if each not in held})
                total = _added(function, held[a], held[b], total)
            points.store(at(2, kept), total)


class _Product:
    """The loops of one product: those of its results outside, in tiles, and those of the sum inside."""

    def __init__(self, points: Points, factors: tuple[Access, Access], out: Access) -> None:
        self.points, self.factors, self.out, self.function = points, factors, out, points.function
        self.dtype, self.terms = out.buffer.dtype, prod(points.extents)
        self.inner = [n for n in range(len(points.axes)) if not points.stride(out, n)]
        *kept, self.lanes = (n for n in range(len(points.axes)) if points.stride(out, n))
        self.rows = max(kept, key=self._reused, default=None)
        self.outer = [n for n in kept if n != self.rows]
        self.sums: dict[tuple[int, int], str] = {}

    def _reused(self, axis: int) -> tuple[int, int, int]:
        """How good ``axis`` is as rows: it is best if one vector is for several of them, then if one number is."""
        lanes = [1 + bool(self.points.stride(factor, self.lanes)) for factor in self.factors]
        saved = [n for factor, n in zip(self.factors, lanes, strict=True) if not self.points.stride(factor, axis)]
        return max(saved, default=0), min(self.points.known_count(axis), MOST_ROWS), axis

    def write(self) -> None:
        """All of it. A part of the columns has all its rows first, so that its part of a factor stays in the cache."""
        wide = [factor for factor in self.factors if self.points.stride(factor, self.lanes)]
        cut = self.points.cut
        before = [
            n for n in self.outer if self.points.stride(wide[-1], n) or (cut and self.points.axes[n][0] == cut.loop)
        ]
        with self.points.loops(before):
            for start, vectors, end, mask in self._parts():
                with self.function.loop(end, LANES * vectors, start) as column:
                    self.points.at[self.lanes] = column
                    with self.points.loops([n for n in self.outer if n not in before]):
                        self._all_rows(vectors, mask)
                self.points.at.pop(self.lanes)

    def _parts(self) -> Iterator[tuple[int, int, int, Value | None]]:
        """Parts of the columns: where the first of one size begins, its vectors, and the end of all of that size.

        The last vector of the last part may have some lanes only.
        """
        columns = self.points.known_count(self.lanes)
        most = 1 if self.terms <= _SHORT else MOST_VECTORS
        if self.rows is None:
            most = MOST_ROWS
        for start, vectors, count in sizes(-(-columns // LANES), most):
            start, step = start * LANES, vectors * LANES
            end = start + step * count
            if end <= columns:
                yield start, vectors, end, None
                continue
            if count > 1:
                yield start, vectors, end - step, None
            left = self.function.code.index(columns % LANES)
            yield end - step, vectors, end, self.function.lanes_below(left)

    def _all_rows(self, vectors: int, mask: Value | None) -> None:
        """The results of ``vectors`` of columns in all rows."""
        if self.rows is None:
            self._tile(1, vectors, mask)
            return
        function, count = self.function, self.points.count(self.rows)
        most = min(MOST_ROWS, max(1, 4 * _SUMS // (vectors * max(4, self.dtype.itemsize))))
        parts: list[tuple[int | str, int, int | str]] = []
        if isinstance(count, int):
            parts += [(start, size, start + size * many) for start, size, many in sizes(count, most)]
        else:
            code = function.code
            whole = function.times(code.value(f"arith.divui {count}, {code.index(most)} : i64"), most) or ""
            parts += [(0, most, whole), (whole, 1, count)]
        for start, rows, end in parts:
            with function.loop(end, rows, start) as row:
                self.points.at[self.rows] = row
                self._tile(rows, vectors, mask)
            self.points.at.pop(self.rows)

    def _tile(self, rows: int, vectors: int, mask: Value | None) -> None:
        """The results of ``rows`` and ``vectors`` from the point at hand on."""
        function, tile = self.function, list(product(range(rows), range(vectors)))
        zeros = function.code.constant(0, self.dtype, LANES)
        for at in tile:
            if at in self.sums:
                function.write(self.sums[at], zeros)
            else:
                self.sums[at] = function.held(zeros)
        masks = [None] * (vectors - 1) + [mask]
        with self.points.loops(self.inner):
            found: list[dict[tuple[int, int], Value]] = [{}, {}]
            places = [self.points.place(factor) for factor in self.factors]
            for at in tile:
                terms = []
                for factor, place, values in zip(self.factors, places, found, strict=True):
                    row, vector = (
                        n if axis is not None and self.points.stride(factor, axis) else 0
                        for n, axis in zip(at, (self.rows, self.lanes), strict=True)
                    )
                    if (row, vector) not in values:
                        begin = self._moved(factor, place, row, vector)
                        values[row, vector] = self._loaded(factor, begin, masks[vector])
                    terms.append(values[row, vector])
                before = function.read(self.sums[at], zeros)
                function.write(self.sums[at], _added(function, terms[0], terms[1], before))
        pointer, place = function.pointer(self.out.buffer), self.points.place(self.out)
        for row, vector in tile:
            value = function.read(self.sums[row, vector], zeros)
            function.store(pointer, self._moved(self.out, place, row, vector), value, masks[vector])

    def _loaded(self, factor: Access, place: str, mask: Value | None) -> Value:
        """The numbers of ``factor`` for the vector at ``place``, of which the lanes in ``mask`` count."""
        pointer, step = self.function.pointer(factor.buffer), self.points.stride(factor, self.lanes)
        if step > 1:
            count = self.points.known_count(self.lanes) % LANES if mask else LANES
            return self.function.load_apart(pointer, place, self.dtype, step, count)
        return self.function.load(pointer, place, self.dtype, LANES if step else 1, mask if step else None)

    def _moved(self, access: Access, place: str | None, row: int, vector: int) -> str:
        """``place`` so many rows and vectors further on."""
        offset = vector * LANES * self.points.stride(access, self.lanes)
        if self.rows is not None:
            offset += row * self.points.step(access, self.rows)
        return self.function.plus(place, self.function.code.index(offset)) or self.function.code.index(0)
