"""Factors and triangular solutions of small matrices: rows of the memory as vectors, one step after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import ordered, vectors, write_nest
from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32, F64
from ipu_mlir.runtime.translator.kernels.scalar.code import I64, LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.scalar.functions import fma
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import Read
from ipu_mlir.runtime.translator.statements.statements import Elementwise, LibraryCall

_TRIANGLES = {
    f"solve_{'lower' if lower else 'upper'}{'_unit' if unit else ''}": (lower, unit)
    for lower in (True, False)
    for unit in (False, True)
}
FACTORS = ("cholesky", "lu", *_TRIANGLES)
_LARGEST = 512  # rows or columns of a matrix, beyond which it does not stay in a cache near to the core
_TOGETHER = 4  # rows that are subtracted at a time, for one load and store of what they are subtracted from
_FEWEST_LANES = 4  # columns from which a vector with a mask beats single numbers
_CALL_US, _STEP_US = 10.0, 5.0  # of NumPy's: a codelet, and each row or column


def factor_points(call: LibraryCall) -> int:
    """The multiplications of a factor or a solution, at most."""
    *stack, rows, columns = call.shapes[0]
    right = call.shapes[1][-1] if call.codelet in _TRIANGLES else columns
    return prod(stack) * rows * columns * right


def factor_us(call: LibraryCall) -> float:
    """Time by NumPy, which goes from row to row in Python and does all matrices of a stack at a time."""
    return _CALL_US + _STEP_US * call.shapes[0][-2]


def write_factor(function: Function, call: LibraryCall) -> None:
    """Append what ``call`` does, matrix after matrix.

    Raises:
        NoKernel: the matrices are large, or do not lie row by row.
    """
    given, out, shape = call.inputs, call.outputs[0], call.shapes[len(call.inputs)]
    if out.buffer.dtype not in (F32, F64) or max(call.shapes[0][-2:]) > _LARGEST:
        raise NoKernel("a matrix is large, or not of floats")
    if 0 in call.shapes[0] or 0 in shape:
        return
    places = [function.place(each.buffer) for each in (*given, *call.outputs)]
    is_there = given[-1] == out
    if len({*places}) < len(places) - is_there or (is_there and call.codelet == "cholesky"):
        raise NoKernel("a matrix is read where a result is written")
    if call.codelet == "cholesky":
        _cholesky(function, call, out, shape)
        return
    if out.strides[-1] != 1 and shape[-1] > 1:
        raise NoKernel("rows do not lie side by side")
    if not is_there:
        source = given[-1]
        write_nest(function, ordered(Elementwise(shape, call.origin, (out,), (Read(out.buffer.dtype, source),))))
    if call.codelet == "lu":
        _lu(function, call)
    else:
        _triangular(function, call, *_TRIANGLES[call.codelet])


@dataclass(frozen=True)
class _Matrix:
    """One matrix of a stack, or a vector: ``begin`` is the element where it begins, as an i64."""

    function: Function
    access: Access
    begin: str
    strides: tuple[int, ...]

    def at(self, *indexes: str) -> str:
        """The number of an element."""
        place: str | None = self.begin
        for index, stride in zip(indexes, self.strides, strict=True):
            place = self.function.plus(place, self.function.times(index, stride))
        return place or self.function.code.index(0)

    def load(self, *indexes: str, lanes: int = 1, mask: Value | None = None) -> Value:
        """An element, or those of its row from there on."""
        buffer = self.access.buffer
        return self.function.load(self.function.pointer(buffer), self.at(*indexes), buffer.dtype, lanes, mask)

    def store(self, value: Value, *indexes: str, mask: Value | None = None) -> None:
        """Write there."""
        self.function.store(self.function.pointer(self.access.buffer), self.at(*indexes), value, mask)


def _matrices(function: Function, accesses: list[Access], stack: tuple[int, ...]) -> Iterator[list[_Matrix]]:
    """The matrices of ``accesses`` at each place of ``stack``; what is written goes inside of its loops."""
    rank = len(stack)
    begins: list[str | None] = [function.code.index(access.offset) for access in accesses]

    def level(depth: int, begins: list[str | None]) -> Iterator[list[_Matrix]]:
        if depth == rank:
            yield [
                _Matrix(function, access, begin or function.code.index(0), access.strides[rank:])
                for access, begin in zip(accesses, begins, strict=True)
            ]
            return
        with function.loop(stack[depth]) as number:
            moved = [
                function.plus(begin, function.times(number, access.strides[depth]))
                for access, begin in zip(accesses, begins, strict=True)
            ]
            yield from level(depth + 1, moved)

    yield from level(0, begins)


def _row(function: Function, start: str, stop: int) -> Iterator[tuple[str, int, Value | None]]:
    """The first of each vector of the elements ``start`` to ``stop`` of a row, its lanes, and which of them count."""
    count = function.code.value(f"arith.subi {function.code.index(stop)}, {start} : i64")
    if stop < _FEWEST_LANES:
        with function.loop(stop, 1, start) as number:
            yield number, 1, None
        return
    for number, mask in vectors(function, count):
        yield function.plus(start, number) or start, LANES, mask


def _groups(function: Function, size: int) -> Iterator[list[str]]:
    """The numbers below ``size`` in order, ``_TOGETHER`` of them at a time, and then those that are left."""
    code, full = function.code, size // _TOGETHER * _TOGETHER
    if full:
        with function.loop(full, _TOGETHER) as first:
            yield [function.plus(first, code.index(each)) or first for each in range(_TOGETHER)]
    if full < size:
        yield [code.index(each) for each in range(full, size)]


def _cholesky(function: Function, call: LibraryCall, out: Access, shape: tuple[int, ...]) -> None:
    """By rows of the upper factor, of which the lower one is the transpose: L L^T = U^T U.

    Rows lie side by side in memory if those of the result do, or its columns.
    """
    *stack, size = shape[:-1]
    code, ops = function.code, function.ops
    is_upper = out.strides[-1] == 1 or size == 1  # the work is done in the upper triangle, and turned at the end
    if not is_upper and out.strides[-2] != 1:
        raise NoKernel("neither rows nor columns lie side by side")
    dtype = out.buffer.dtype
    zero, nan = code.constant(0, dtype), code.constant(np.nan, dtype)
    for a, found in _matrices(function, [call.inputs[0], out], tuple(stack)):
        work = found if is_upper else _Matrix(function, out, found.begin, found.strides[::-1])
        with function.loop(size) as i, function.loop(size, 1, i) as j:
            work.store(a.load(j, i), i, j)
        for group in _groups(function, size):
            for number, k in enumerate(group):
                _subtract(function, [(work.load(row, k), row) for row in group[:number]], work, (work, k), k, size)
                square = work.load(k, k)
                root = ops.op("math.sqrt", square)
                root = ops.select(ops.compare("ogt", square, zero), root, nan)
                for j, lanes, mask in _row(function, k, size):
                    work.store(ops.op("arith.divf", work.load(k, j, lanes=lanes, mask=mask), root), k, j, mask=mask)
                work.store(root, k, k)
            after = code.value(f"arith.addi {group[-1]}, {code.index(1)} : i64")
            with function.loop(size, 1, after) as i:
                _subtract(function, [(work.load(row, i), row) for row in group], work, (work, i), i, size)
        last = code.index(size - 1)
        is_wrong = ops.is_nan(work.load(last, last))
        with function.loop(size) as i, function.loop(size, 1, i) as j:
            value = ops.select(is_wrong, nan, work.load(i, j))
            beside = ops.select(is_wrong, nan, zero)
            is_diagonal = ops.compare("eq", Value(i, I64), Value(j, I64))
            found.store(value, j, i)
            found.store(ops.select(is_diagonal, value, beside), i, j)


def _subtract(
    function: Function,
    taken: list[tuple[Value, str]],
    source: _Matrix,
    dest: tuple[_Matrix, str],
    start: str,
    stop: int,
) -> None:
    """From the columns ``start`` to ``stop`` of a row, subtract rows of ``source`` times a factor each."""
    if not taken:
        return
    ops, (matrix, row) = function.ops, dest
    less = [ops.op("arith.negf", factor) for factor, _ in taken]
    for j, lanes, mask in _row(function, start, stop):
        new = matrix.load(row, j, lanes=lanes, mask=mask)
        for factor, (_, other) in zip(less, taken, strict=True):
            new = fma(ops, factor, source.load(other, j, lanes=lanes, mask=mask), new)
        matrix.store(new, row, j, mask=mask)


def _lu(function: Function, call: LibraryCall) -> None:
    """Column after column, each with the largest of its elements on the diagonal; whole rows change places."""
    *stack, rows, columns = call.shapes[0]
    code, ops = function.code, function.ops
    dtype, one = call.outputs[0].buffer.dtype, code.index(1)
    counts = call.outputs[1].buffer.dtype
    for a, pivots, order in _matrices(function, list(call.outputs), tuple(stack)):
        with function.loop(rows) as i:
            order.store(ops.cast(Value(i, I64), counts), i)
        with function.loop(min(rows, columns)) as k:
            first = ops.op("math.absf", a.load(k, k))
            largest, place = function.held(first), function.held(Value(k, I64))
            after = code.value(f"arith.addi {k}, {one} : i64")
            with function.loop(rows, 1, after) as i:
                size, best = ops.op("math.absf", a.load(i, k)), function.read(largest, first)
                new_nan = ops.both(ops.is_nan(size), ops.compare("ord", best, best))
                is_larger = ops.op("arith.ori", ops.compare("ogt", size, best), new_nan)
                with function.branch(is_larger.name):
                    function.write(largest, size)
                    function.write(place, Value(i, I64))
            pivot = function.read(place, Value(k, I64))
            pivots.store(ops.cast(pivot, counts), k)
            with function.branch(ops.compare("ne", pivot, Value(k, I64)).name):
                for j, lanes, mask in _row(function, code.index(0), columns):
                    upper, lower = a.load(k, j, lanes=lanes, mask=mask), a.load(pivot.name, j, lanes=lanes, mask=mask)
                    a.store(lower, k, j, mask=mask)
                    a.store(upper, pivot.name, j, mask=mask)
                upper, lower = order.load(k), order.load(pivot.name)
                order.store(lower, k)
                order.store(upper, pivot.name)
            diagonal = a.load(k, k)
            is_zero = ops.compare("oeq", diagonal, code.constant(0, dtype))
            scale = ops.select(is_zero, code.constant(1, dtype), diagonal)
            with function.loop(rows, 1, after) as i:
                factor = ops.op("arith.divf", a.load(i, k), scale)
                a.store(factor, i, k)
                _subtract(function, [(factor, k)], a, (a, i), after, columns)


def _triangular(function: Function, call: LibraryCall, lower: bool, unit: bool) -> None:
    """Row after row: what is known is subtracted from all rows that follow."""
    *stack, size, right = call.shapes[-1]
    code, ops = function.code, function.ops
    last, one, none = code.index(size - 1), code.index(1), code.index(0)
    for a, found in _matrices(function, [call.inputs[0], call.outputs[0]], tuple(stack)):
        for turns in _groups(function, size):
            group = turns if lower else [code.value(f"arith.subi {last}, {turn} : i64") for turn in turns]
            for number, known in enumerate(group):
                taken = [(a.load(known, row), row) for row in group[:number]]
                _subtract(function, taken, found, (found, known), none, right)
                if not unit:
                    diagonal = a.load(known, known)
                    for j, lanes, mask in _row(function, none, right):
                        quotient = ops.op("arith.divf", found.load(known, j, lanes=lanes, mask=mask), diagonal)
                        found.store(quotient, known, j, mask=mask)
            end = group[-1]
            start, stop = (code.value(f"arith.addi {end}, {one} : i64"), code.index(size)) if lower else (none, end)
            with function.loop(stop, 1, start) as i:
                _subtract(function, [(a.load(i, row), row) for row in group], found, (found, i), none, right)
