"""Products of a large matrix by few rows or columns: it is read once, in the order of its memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import ordered, vectors, write_nest
from ipu_mlir.runtime.translator.kernels.points import Cut
from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32, F64
from ipu_mlir.runtime.translator.kernels.scalar.code import LANES, NoKernel, Value
from ipu_mlir.runtime.translator.kernels.scalar.numpy_functions import all_lanes
from ipu_mlir.runtime.translator.statements.access import Access, temporary
from ipu_mlir.runtime.translator.statements.contraction import loop_kinds
from ipu_mlir.runtime.translator.statements.expression import Read
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise

_FEW_ROWS, _FEW_COLUMNS = 3, 8  # of more BLAS reads a large factor once, too
_TERMS = 8  # rows of a large factor that are read side by side
_LARGE = 1 << 19  # elements of a factor that does not stay in the cache: 2 MiB of f32
_MOST_TERMS = 1 << 16  # of a sum, beyond which parts of it are added up first


@dataclass(frozen=True)
class Thin:
    """A product of ``large``, along ``many`` of its results and ``terms``, by ``small``, which has ``few`` instead.

    ``is_along`` holds where terms lie side by side in ``large``, otherwise the results do.
    """

    large: Access
    small: Access
    few: int
    many: int
    terms: int
    is_along: bool


def thin(dot: Dot) -> Thin | None:
    """How ``dot`` is such a product; None if it is another one."""
    kinds = loop_kinds(dot)
    if kinds.batch or [*map(len, (kinds.rows, kinds.columns, kinds.summed))] != [1, 1, 1]:
        return None
    if any(each.buffer.dtype != dot.out.buffer.dtype for each in (dot.a, dot.b)) or dot.out.buffer.dtype not in (
        F32,
        F64,
    ):
        return None
    (rows,), (columns,), (terms,) = kinds.rows, kinds.columns, kinds.summed
    is_of_few_rows = dot.extents[rows] < dot.extents[columns]
    few, many = (rows, columns) if is_of_few_rows else (columns, rows)
    large, small = (dot.b, dot.a) if is_of_few_rows else (dot.a, dot.b)
    is_along, is_across = large.strides[terms] == 1, large.strides[many] == dot.out.strides[many] == 1
    most = _FEW_COLUMNS if is_along else _FEW_ROWS
    fits = dot.extents[few] <= most and dot.extents[terms] <= _MOST_TERMS
    if not fits or not (is_along or is_across) or dot.extents[many] * dot.extents[terms] <= _LARGE:
        return None
    return Thin(large, small, few, many, terms, is_along)


def write_thin_product(function: Function, dot: Dot, form: Thin, part: Cut | None) -> None:
    """Append the loops of ``dot``; ``part`` of its many results only.

    Raises:
        NoKernel: it reads what it writes, or there is memory for a block only.
    """
    if any(function.in_scratch(each.buffer) for each in (dot.a, dot.b, dot.out)):
        raise NoKernel("a thin product has all of its memory")
    if any(function.place(each.buffer) is function.place(dot.out.buffer) for each in (dot.a, dot.b)):
        raise NoKernel("a product reads what it writes")
    if form.is_along:
        name, others = f"{form.small.buffer.name}_narrow", [form.few, form.terms]
        copied = temporary(name, form.small.buffer.dtype, dot.extents, others)
        extents = tuple(n if loop in others else 1 for loop, n in enumerate(dot.extents))
        write_nest(
            function, ordered(Elementwise(extents, dot.origin, (copied,), (Read(copied.buffer.dtype, form.small),)))
        )
        form = replace(form, small=copied)
    _ThinProduct(function, dot, form, part).write()


class _ThinProduct:
    """The loops of one product."""

    def __init__(self, function: Function, dot: Dot, form: Thin, part: Cut | None) -> None:
        self.function, self.dot, self.form, code = function, dot, form, function.code
        self.dtype, self.few = dot.out.buffer.dtype, dot.extents[form.few]
        self.begin: str = code.index(0)
        self.count: int | str = dot.extents[form.many]
        if part is not None:
            self.begin = function.times(part.start, part.size) or self.begin
            self.count = function.times(part.units, part.size) or ""

    def write(self) -> None:
        """All of it, or the part."""
        if not self.form.is_along:
            self._across()
            return
        with self.function.loop(self.count) as number:
            self._along(self.function.plus(self.begin, number) or self.begin)

    def _along(self, row: str) -> None:
        """The results of ``row``: each the sum of the lanes of one vector. Several rows at a time took longer."""
        function, terms = self.function, self.dot.extents[self.form.terms]
        zeros = function.code.constant(0, self.dtype, LANES)
        sums = [function.held(zeros) for _ in range(self.few)]
        for held in sums:
            function.write(held, zeros)
        for term, mask in vectors(function, terms):
            large = self._load(self.form.large, {self.form.many: row, self.form.terms: term}, LANES, mask)
            for n, held in enumerate(sums):
                small = self._load(self.form.small, {self.form.few: n, self.form.terms: term}, LANES, mask)
                function.write(held, function.ops.op("math.fma", large, small, function.read(held, zeros)))
        for n, held in enumerate(sums):
            self._store(
                all_lanes(function.ops, function.read(held, zeros), "add"), {self.form.many: row, self.form.few: n}
            )

    def _across(self) -> None:
        """All results are added to, once for several terms, beginning with zeros."""
        function, terms = self.function, self.dot.extents[self.form.terms]
        zeros = function.code.constant(0, self.dtype, LANES)
        for n in range(self.few):
            for number, mask in vectors(function, self.count):
                self._store(zeros, self._result(n, number), mask)
        whole = terms // _TERMS * _TERMS
        for start, size, end in ((0, _TERMS, whole), (whole, 1, terms)):
            if start != end:
                with function.loop(end, size, start) as term:
                    self._add(term, size)

    def _add(self, first: str, size: int) -> None:
        """The terms of ``size`` rows of the large factor from ``first`` on."""
        function, form = self.function, self.form
        rows = range(self.few)
        small = [
            [self._load(form.small, {form.few: n, form.terms: first}, 1, term=k) for k in range(size)] for n in rows
        ]
        for number, mask in vectors(function, self.count):
            column = function.plus(self.begin, number) or self.begin
            sums = [self._load(self.dot.out, self._result(n, number), LANES, mask) for n in rows]
            for k in range(size):
                large = self._load(form.large, {form.many: column, form.terms: first}, LANES, mask, k)
                sums = [function.ops.op("math.fma", small[n][k], large, sums[n]) for n in rows]
            for n in rows:
                self._store(sums[n], self._result(n, number), mask)

    def _result(self, n: int, number: str) -> dict[int, int | str]:
        return {self.form.few: n, self.form.many: self.function.plus(self.begin, number) or self.begin}

    def _place(self, access: Access, at: Mapping[int, int | str], further: int = 0) -> str:
        """The number of an element."""
        function, code = self.function, self.function.code
        place: str | None = code.index(function.offset(access) + further)
        for loop, number in at.items():
            index = code.index(number) if isinstance(number, int) else number
            place = function.plus(place, function.times(index, access.strides[loop]))
        return place or code.index(0)

    def _load(
        self, access: Access, at: Mapping[int, int | str], lanes: int, mask: Value | None = None, term: int = 0
    ) -> Value:
        """An element, or those from there on, so many terms further."""
        place = self._place(access, at, term * access.strides[self.form.terms])
        return self.function.load(self.function.pointer(access.buffer), place, self.dtype, lanes, mask)

    def _store(self, value: Value, at: Mapping[int, int | str], mask: Value | None = None) -> None:
        """Write to the result."""
        out = self.dot.out
        self.function.store(self.function.pointer(out.buffer), self._place(out, at), value, mask)
