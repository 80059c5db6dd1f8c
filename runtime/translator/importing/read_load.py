"""``memref.load`` in a body: a read where the index follows from the loops alone, a gather where it depends on data."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, Gather, Read, apply, loops_of
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.iota import INDEX, numbers


def loaded(view: BufferView, indices: Sequence[Expression], ranges: Ranges) -> Expression:
    """The element of ``view`` at ``indices``, each taken for the nearest that its dimension has.

    A part of an index that is the same at every point is a shift of everything that is read, where the whole index is
    known to lie in its dimension. Where there are no elements, it is 0.
    """
    if 0 in view.shape:
        return Const.of(0, view.buffer.dtype)
    extents = ranges.extents
    offset, strides = view.offset, [0] * len(extents)
    data: list[tuple[Expression, int, int]] = []  # index, its stride in the buffer, how many places it has
    for index, size, stride in zip(indices, view.shape, view.strides, strict=True):
        part = _linear_part(index, len(extents))
        low, high = part.span(extents)
        if part.rest is None and low >= 0 and high < size:
            rest = None
        elif part.rest is None and low == high:
            part, rest = _Linear((0,) * len(extents), 0 if low < 0 else size - 1, None), None
        elif part.rest is not None and _is_shift(part.rest, low, high, size, ranges):
            rest, size = part.rest, size - (high - low)
            if low:  # the shift counts from where the lowest index lies
                rest = apply("add", rest, Const.of(low, INDEX))
                part = _Linear(part.coefficients, part.constant - low, rest)
        else:
            part, rest = _Linear((0,) * len(extents), 0, index), index
        offset += part.constant * stride
        for loop, coefficient in enumerate(part.coefficients):
            strides[loop] += coefficient * stride
        if rest is not None and size > 1:
            data.append((rest, stride, size))
    access = Access(view.buffer, offset, tuple(strides))
    if not data:
        return Read(view.buffer.dtype, access)
    unit = gcd(*(stride for _, stride, _ in data))
    limit = 1 + sum((size - 1) * (stride // unit) for _, stride, size in data)
    if len(data) > 1:
        data = [(_clipped(index, size, ranges), stride, size) for index, stride, size in data]
    total: Expression | None = None
    for index, stride, _ in data:
        term = index if stride == unit else apply("multiply", index, Const.of(stride // unit, INDEX))
        total = term if total is None else apply("add", total, term)
    assert total is not None, "there is at least one index that depends on data"
    return Gather(view.buffer.dtype, access, total, unit, limit)


def _is_shift(rest: Expression, low: int, high: int, size: int, ranges: Ranges) -> bool:
    """True if ``rest`` is the same at every point, and bounds of it are bounds of ``rest + low`` to ``rest + high``."""
    if loops_of(rest):
        return False
    interval = ranges.of(rest)
    return low == high or (interval is not None and interval[0] + low >= 0 and interval[1] + high < size)


def _clipped(index: Expression, size: int, ranges: Ranges) -> Expression:
    """``index`` within 0 .. ``size`` - 1: one of several must not carry into the dimension before."""
    low = ranges.decided(apply("maximum", index, Const.of(0, INDEX)))
    return ranges.decided(apply("minimum", low, Const.of(size - 1, INDEX)))


@dataclass(frozen=True)
class _Linear:
    """An index as ``constant + sum(coefficients[l] * d_l) + rest``; ``rest`` is the part that depends on data."""

    coefficients: tuple[int, ...]
    constant: int
    rest: Expression | None

    def span(self, extents: Sequence[int]) -> tuple[int, int]:
        """The lowest and the highest value that the loops give it."""
        reach = [c * (n - 1) for c, n in zip(self.coefficients, extents, strict=True)]
        return self.constant + sum(min(0, r) for r in reach), self.constant + sum(max(0, r) for r in reach)


def _linear_part(index: Expression, rank: int) -> _Linear:
    """``index`` with what is linear in ``rank`` loops taken apart from the rest."""
    none = (0,) * rank
    match index:
        case Const():
            return _Linear(none, int(index.value), None)
        case Read() if index.access.buffer is numbers(index.access.buffer.elements):
            return _Linear(index.access.strides, index.access.offset, None)
        case Apply(call="add" | "subtract" as call):
            a, b = (_linear_part(arg, rank) for arg in index.args)
            sign = 1 if call == "add" else -1
            terms = tuple(x + sign * y for x, y in zip(a.coefficients, b.coefficients, strict=True))
            return _Linear(terms, a.constant + sign * b.constant, _combined(a.rest, b.rest, call))
        case Apply(call="multiply"):
            for scaled, factor in (index.args, index.args[::-1]):
                if isinstance(factor, Const):
                    part, k = _linear_part(scaled, rank), int(factor.value)
                    rest = None if part.rest is None else apply("multiply", part.rest, factor)
                    return _Linear(tuple(k * c for c in part.coefficients), k * part.constant, rest)
    return _Linear(none, 0, index)


def _combined(a: Expression | None, b: Expression | None, call: str) -> Expression | None:
    if b is None:
        return a
    if a is None:
        return b if call == "add" else apply("negative", b)
    return apply(call, a, b)
