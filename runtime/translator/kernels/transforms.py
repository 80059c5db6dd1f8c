"""Fourier transforms of rows: stages that read vectors in order and write them sorted, in the nearest cache (Stockham).

Real parts and imaginary parts are apart between the stages. The transform of a real row is one of its pairs of elements
as complex numbers; an inverse one is a forward one of numbers whose parts are exchanged, before and after.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import ordered, write_nest
from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32, F64
from ipu_mlir.runtime.translator.kernels.scalar.code import NoKernel, Value
from ipu_mlir.runtime.translator.statements.access import Access, temporary
from ipu_mlir.runtime.translator.statements.expression import Read
from ipu_mlir.runtime.translator.statements.statements import Elementwise, LibraryCall

TRANSFORMS = ("fft", "ifft", "rfft", "irfft")
_RADICES = (4, 2, 3, 5, 7)
_LARGEST = 4096  # complex elements of a row: both parts, twice, are 64 KiB of f32
_FEWEST = 32  # real numbers, or parts: two stages of radix 4 have vectors of 4
_CALL_US, _POINT_US = 8.0, 0.002  # of SciPy's: a codelet, and each number that it reads or writes
_ROOTS = re.compile(r"@(roots_(f[48])_(\d+)_(\d+)_(\d+)_(\d+))\b")

Complex = tuple[Value, Value]


def with_roots(functions: str) -> str:
    """The text of ``functions``, behind the roots of unity that they read."""
    tables = []
    for name, kind, *numbers in dict.fromkeys(_ROOTS.findall(functions)):
        found = _roots(*map(int, numbers)).astype(kind)
        width = 8 * found.itemsize
        bits = ", ".join(f"0x{each:0{width // 4}X}" for each in found.view(f"u{found.itemsize}"))
        dense = f"dense<[{bits}]> : tensor<{found.size}xf{width}>"
        tables.append(f"  llvm.mlir.global internal constant @{name}({dense}) : !llvm.array<{found.size} x f{width}>")
    return "\n".join([*tables, functions])


def _roots(size: int, powers: int, count: int, repeats: int) -> np.ndarray:
    """Per power k from 1 on, the real parts and then the imaginary ones of ``count`` numbers exp(-2 pi i k p / size).

    Each p stands there ``repeats`` times.
    """
    places = np.arange(1, powers + 1)[:, None] * np.repeat(np.arange(count // repeats), repeats)
    found = np.exp(-2j * np.pi * (places % size) / size)
    return np.stack([found.real, found.imag], 1).reshape(-1)


def transform_points(call: LibraryCall) -> int:
    """The numbers that a transform reads or writes, whichever are more."""
    return max(map(prod, call.shapes))


def transform_us(call: LibraryCall) -> float:
    """Time by SciPy or NumPy."""
    return _CALL_US + transform_points(call) * _POINT_US


def write_transform(function: Function, call: LibraryCall) -> None:
    """Append what ``call`` does, row after row. Rows that do not lie side by side are copied.

    Raises:
        NoKernel: the size of the rows has no stages, or the result lies where other elements are read.
    """
    (given,), (out,) = call.inputs, call.outputs
    if out.buffer.dtype not in (F32, F64) or given.buffer.dtype != out.buffer.dtype:
        raise NoKernel("transforms are of floats")
    if function.place(given.buffer) is function.place(out.buffer) and given != out:
        raise NoKernel("elements are read where others are written")
    shapes = list(call.shapes)
    if 0 in shapes[0]:
        return
    is_real = [call.codelet == "rfft", call.codelet == "irfft"]
    reals = shapes[is_real.index(True)][-1] if any(is_real) else 2 * shapes[0][-2]
    if reals % 2 or reals < _FEWEST:
        raise NoKernel("rows are short, or have no pairs")
    size = reals // 2
    stages = _Stages.of(function, size, out.buffer.dtype)
    places = [given, out]
    for number, (access, shape, real) in enumerate(zip(places, shapes, is_real, strict=True)):
        steps = (1,) if real else (2, 1)
        if access.strides[-len(steps) :] != steps:
            places[number] = temporary(f"{access.buffer.name}_rows", access.buffer.dtype, shape, [*range(len(shape))])
    if places[0] != given:
        _copy(function, call, given, places[0], shapes[0])
    rank = len(shapes[0]) - (1 if is_real[0] else 2)
    for source, dest in _rows(function, places, shapes[0][:rank]):
        stages.write(call.codelet, source, dest)
    if places[1] != out:
        _copy(function, call, places[1], out, shapes[1])


def _copy(function: Function, call: LibraryCall, source: Access, dest: Access, shape: tuple[int, ...]) -> None:
    value = Read(source.buffer.dtype, source)
    write_nest(function, ordered(Elementwise(shape, call.origin, (dest,), (value,))))


@dataclass(frozen=True)
class _Row:
    """Complex numbers in memory, or their two parts apart: ``parts`` are pointers, the elements are counted from
    ``begin``."""

    function: Function
    parts: tuple[str, ...]
    dtype: np.dtype
    begin: str | None = None

    def load(self, at: str | None, offset: int, lanes: int, is_backwards: bool = False) -> Complex:
        """The numbers from ``at + offset`` on, in turn."""
        function, ops = self.function, self.function.ops
        if len(self.parts) == 2:
            place = function.plus(at, function.code.index(offset)) or function.code.index(0)
            found = [function.load(part, place, self.dtype, lanes) for part in self.parts]
        else:
            pairs = self._pairs(at, offset)
            if lanes == 1:
                found = [function.load(self.parts[0], place, self.dtype) for place in self._places(pairs, 1)]
            else:
                low, high = (
                    function.load(self.parts[0], place, self.dtype, lanes) for place in self._places(pairs, lanes)
                )
                found = [ops.every_other(low, high, first) for first in (0, 1)]
        if is_backwards:
            found = [ops.shuffled(each, each, [*range(lanes)][::-1]) for each in found]
        return found[0], found[1]

    def store(self, value: Complex, at: str | None, offset: int) -> None:
        """Write there."""
        function, lanes = self.function, value[0].lanes
        if len(self.parts) == 2:
            place = function.plus(at, function.code.index(offset)) or function.code.index(0)
            for part, each in zip(self.parts, value, strict=True):
                function.store(part, place, each)
            return
        turned = value if lanes == 1 else function.ops.alternating(*value)
        for place, each in zip(self._places(self._pairs(at, offset), lanes), turned, strict=True):
            function.store(self.parts[0], place, each)

    def _pairs(self, at: str | None, offset: int) -> str | None:
        function = self.function
        begin = function.plus(self.begin, None if at is None else function.times(at, 2))
        return function.plus(begin, function.code.index(2 * offset))

    def _places(self, pairs: str | None, lanes: int) -> list[str]:
        function = self.function
        return [function.plus(pairs, function.code.index(each)) or function.code.index(0) for each in (0, lanes)]


def _rows(function: Function, accesses: Sequence[Access], stack: tuple[int, ...]) -> Iterator[list[_Row]]:
    """The rows of ``accesses`` at each place of ``stack``; what is written goes inside of its loops."""

    def level(depth: int, begins: list[str | None]) -> Iterator[list[_Row]]:
        if depth == len(stack):
            yield [
                _Row(function, (function.pointer(each.buffer),), each.buffer.dtype, begin)
                for each, begin in zip(accesses, begins, strict=True)
            ]
            return
        with function.loop(stack[depth]) as number:
            moved = [
                function.plus(begin, function.times(number, each.strides[depth]))
                for begin, each in zip(begins, accesses, strict=True)
            ]
            yield from level(depth + 1, moved)

    yield from level(0, [function.code.index(each.offset) for each in accesses])


@dataclass(frozen=True)
class _Stages:
    """The stages of complex rows of ``size``: what each divides by, with vectors of ``lanes``."""

    function: Function
    size: int
    radices: tuple[int, ...]
    lanes: int
    held: tuple[_Row, _Row]

    @staticmethod
    def of(function: Function, size: int, dtype: np.dtype) -> "_Stages":
        radices: list[int] = []
        left = size
        for radix in _RADICES:
            while left % radix == 0:
                radices.append(radix)
                left //= radix
        if left > 1 or len(radices) < 2 or size > _LARGEST:
            raise NoKernel("the size has other factors, or no vectors")
        done = [prod(radices[:number]) for number in range(len(radices))]
        lanes = next(
            (
                lanes
                for lanes in (16, 8, 4)
                if all(size // radix % lanes == 0 for radix in radices)
                and all(
                    before % lanes == 0 or (lanes % before == 0 and radix in (2, 4))
                    for before, radix in zip(done, radices, strict=True)
                )
            ),
            None,
        )
        if lanes is None:
            raise NoKernel("rows are short")
        kind, code = f"f{8 * dtype.itemsize}", function.code
        arrays = [
            code.first(
                f"llvm.alloca {code.index(1)} x !llvm.array<{size + lanes} x {kind}> {{alignment = 64 : i64}} "
                ": (i64) -> !llvm.ptr"
            )
            for _ in range(4)
        ]
        held = _Row(function, tuple(arrays[:2]), dtype), _Row(function, tuple(arrays[2:]), dtype)
        return _Stages(function, size, tuple(radices), lanes, held)

    def write(self, name: str, source: _Row, dest: _Row) -> None:
        """The transform ``name`` of one row."""
        is_inverse = name.startswith("i")
        number = 0
        if name == "irfft":
            self._join(source, self.held[1])
            source = self.held[1]
        done = 1
        for position, radix in enumerate(self.radices):
            is_first, is_last = position == 0, position == len(self.radices) - 1
            to = dest if is_last and name != "rfft" else self.held[number]
            self._stage(source, to, radix, done, is_inverse and is_first, is_inverse and is_last)
            source, number, done = to, 1 - number, done * radix
        if name == "rfft":
            self._split(source, dest)

    def _stage(self, source: _Row, dest: _Row, radix: int, done: int, is_turned: bool, is_inverse: bool) -> None:
        function, lanes, rest = self.function, self.lanes, self.size // radix
        steps = rest // done
        if done % lanes == 0:
            with function.loop(steps) as step:
                before = function.times(step, done)
                to = function.times(step, done * radix)
                factors = [] if steps == 1 else self._factors(done, radix, steps, 1, step, 1)
                with function.loop(done, lanes) as number:
                    found = self._butterfly(source, function.plus(before, number), radix, is_turned, factors)
                    for k, value in enumerate(found):
                        self._store(dest, value, function.plus(to, number), k * done, is_inverse)
            return
        with function.loop(rest, lanes) as number:
            factors = [] if steps == 1 else self._factors(done, radix, rest, done, number, lanes)
            found = self._butterfly(source, number, radix, is_turned, factors)
            parts = [self._sorted([value[part] for value in found], done) for part in (0, 1)]
            for k, value in enumerate(zip(*parts, strict=True)):
                self._store(dest, value, function.times(number, radix), k * lanes, is_inverse)

    def _store(self, dest: _Row, value: Complex, at: str | None, offset: int, is_inverse: bool) -> None:
        if is_inverse:
            scale = self.function.code.constant(1 / self.size, dest.dtype)
            real, imaginary = (self.function.ops.op("arith.mulf", each, scale) for each in value)
            value = imaginary, real
        dest.store(value, at, offset)

    def _factors(self, done: int, radix: int, count: int, repeats: int, at: str, lanes: int) -> list[Complex]:
        """What the results of a stage but the first are multiplied by."""
        return self._factors_of(self._table(self.size // done, radix - 1, count, repeats), radix - 1, count, at, lanes)

    def _factors_of(self, table: str, powers: int, count: int, at: str, lanes: int) -> list[Complex]:
        function, dtype = self.function, self.held[0].dtype
        places = [function.plus(at, function.code.index(part * count)) or "" for part in range(2 * powers)]
        parts = [function.load(table, place or function.code.index(0), dtype, lanes) for place in places]
        return [*zip(parts[::2], parts[1::2], strict=True)]

    def _table(self, *numbers: int) -> str:
        """Where the roots are that ``_roots`` gives for ``numbers``."""
        name = "_".join(map(str, (f"@roots_f{self.held[0].dtype.itemsize}", *numbers)))
        return self.function.code.first(f"llvm.mlir.addressof {name} : !llvm.ptr")

    def _butterfly(
        self, source: _Row, at: str | None, radix: int, is_turned: bool, factors: list[Complex]
    ) -> list[Complex]:
        """The small transform of numbers that lie ``size / radix`` apart."""
        x = [source.load(at, j * (self.size // radix), self.lanes) for j in range(radix)]
        if is_turned:
            x = [(imaginary, real) for real, imaginary in x]
        if radix == 2:
            found = [self._sum(x[0], x[1]), self._difference(x[0], x[1])]
        elif radix == 4:
            a, b = self._sum(x[0], x[2]), self._difference(x[0], x[2])
            c, (real, imaginary) = self._sum(x[1], x[3]), self._difference(x[1], x[3])
            op = self.function.ops.op
            beside = op("arith.addf", b[0], imaginary), op("arith.subf", b[1], real)  # b - i d
            opposite = op("arith.subf", b[0], imaginary), op("arith.addf", b[1], real)
            found = [self._sum(a, c), beside, self._difference(a, c), opposite]
        else:
            found = [self._sum_of_all(x, k) for k in range(radix)]
        return found[:1] + [self._product(*each) for each in zip(found[1:], factors, strict=True)] if factors else found

    def _sum_of_all(self, x: list[Complex], k: int) -> Complex:
        total = x[0]
        for j, value in enumerate(x[1:], 1):
            root = np.exp(-2j * np.pi * (j * k % len(x)) / len(x))
            real, imaginary = (self.function.code.constant(each, value[0].dtype) for each in (root.real, root.imag))
            total = self._product(value, (real, imaginary), total)
        return total

    def _sum(self, a: Complex, b: Complex) -> Complex:
        real, imaginary = (self.function.ops.op("arith.addf", *each) for each in zip(a, b, strict=True))
        return real, imaginary

    def _difference(self, a: Complex, b: Complex) -> Complex:
        real, imaginary = (self.function.ops.op("arith.subf", *each) for each in zip(a, b, strict=True))
        return real, imaginary

    def _product(self, a: Complex, b: Complex, before: Complex | None = None) -> Complex:
        """``a`` times ``b``, added to what was ``before``."""
        op = self.function.ops.op
        parts = []
        for last, (first, second) in enumerate((((0, 0), (1, 1)), ((0, 1), (1, 0)))):
            one, other = a[first[0]], a[second[0]]
            start = (
                op("arith.mulf", one, b[first[1]]) if before is None else op("math.fma", one, b[first[1]], before[last])
            )
            factor = other if last else op("arith.negf", other)
            parts.append(op("math.fma", factor, b[second[1]], start))
        return parts[0], parts[1]

    def _sorted(self, values: list[Value], granule: int) -> list[Value]:
        """``granule`` lanes of each of ``values`` in turn, then the next of each."""
        if len(values) == 1:
            return values
        even, odd = (self._sorted(values[first::2], granule) for first in (0, 1))
        both = [(half * self.lanes + place) for place in range(self.lanes) for half in (0, 1)]
        both = sorted(both, key=lambda place: (place % self.lanes // granule, place // self.lanes))
        halves = both[: self.lanes], both[self.lanes :]
        return [self.function.ops.shuffled(a, b, half) for a, b in zip(even, odd, strict=True) for half in halves]

    def _pairs_of(self, row: _Row) -> Iterator[tuple[str, Complex, Complex, Complex]]:
        """Where numbers k of a row are, they, those at ``size - k``, and exp(-2 pi i k / 2 size); in a loop."""
        function, size, lanes = self.function, self.size, self.lanes
        with function.loop(size, lanes) as number:
            back = function.code.value(f"arith.subi {function.code.index(size + 1 - lanes)}, {number} : i64")
            (factor,) = self._factors_of(self._table(2 * size, 1, size, 1), 1, size, number, lanes)
            yield number, row.load(number, 0, lanes), row.load(back, 0, lanes, is_backwards=True), factor

    def _split(self, source: _Row, dest: _Row) -> None:
        """Of the transform of pairs, that of the real numbers that they are made of, up to half of it."""
        op, first = self.function.ops.op, source.load(None, 0, 1)
        source.store(first, None, self.size)
        for number, z, y, factor in self._pairs_of(source):
            half = self.function.code.constant(0.5, dest.dtype)
            even = op("arith.addf", z[0], y[0]), op("arith.subf", z[1], y[1])
            odd = op("arith.addf", z[1], y[1]), op("arith.subf", y[0], z[0])
            real, imaginary = (op("arith.mulf", half, each) for each in self._product(odd, factor, even))
            dest.store((real, imaginary), number, 0)
        last = op("arith.subf", *first), self.function.code.constant(0, dest.dtype)
        dest.store(last, None, self.size)

    def _join(self, source: _Row, dest: _Row) -> None:
        """The transform of pairs of real numbers, of half of theirs. That of the first and the last is real, too."""
        op, half = self.function.ops.op, self.function.code.constant(0.5, dest.dtype)
        for number, x, y, factor in self._pairs_of(source):
            even = op("arith.addf", x[0], y[0]), op("arith.subf", x[1], y[1])
            odd = op("arith.subf", x[0], y[0]), op("arith.addf", x[1], y[1])
            turned = op("arith.negf", odd[1]), odd[0]
            back = factor[0], op("arith.negf", factor[1])
            real, imaginary = (op("arith.mulf", half, each) for each in self._product(turned, back, even))
            dest.store((real, imaginary), number, 0)
        (first, _), (last, _) = source.load(None, 0, 1), source.load(None, self.size, 1)
        both = [op("arith.mulf", half, op(name, first, last)) for name in ("arith.addf", "arith.subf")]
        dest.store((both[0], both[1]), None, 0)
