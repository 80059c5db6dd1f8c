"""A scatter to a single place, be it an element or a whole row: the update of one slice."""

from math import prod

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access
from ipu_mlir.runtime.translator.array_ir.expression import Const, Expression, Gather, Read, apply
from ipu_mlir.runtime.translator.array_ir.iota import INDEX
from ipu_mlir.runtime.translator.array_ir.statements import LibraryCall, SliceUpdate, Statement

COMBINE = {
    "scatter_set": None,
    "scatter_add": "add",
    "scatter_mul": "multiply",
    "scatter_max": "maximum",
    "scatter_min": "minimum",
}
"""The ufunc by which scatters combine a new element with what they find; None if they replace it."""


def single_scatter(statement: Statement) -> SliceUpdate | None:
    """``statement`` as the update of one slice, if it is a scatter in which every index is one number or counts up."""
    if not isinstance(statement, LibraryCall) or statement.codelet not in COMBINE:
        return None
    (out,), extents = statement.outputs, statement.shapes[-1]
    if out.buffer.narrow is not None or min(extents) < 1:
        return None
    rank = len(extents)
    arrays = list(zip(statement.inputs, statement.shapes, strict=False))
    guard, guard_shape = arrays[rank]
    update, update_shape = arrays[rank + 1]
    whole = np.broadcast_shapes(update_shape, guard_shape, *(shape for _, shape in arrays[:rank]))
    axes: dict[int, int] = {}
    places: dict[int, Access] = {}
    for dimension, (index, shape) in enumerate(arrays[:rank]):
        axis = counting_axis(index, shape, extents[dimension])
        if prod(shape) == 1:
            places[dimension] = index
        elif axis is None or axis in axes.values():
            return None
        else:
            axes[dimension] = axis
    if not places or any(n > 1 and axis - len(whole) not in axes.values() for axis, n in enumerate(whole)):
        return None
    tests: list[Expression] = []
    if not (guard.buffer.value is not None and guard.buffer.value.all()):
        if prod(guard_shape) != 1:
            return None
        tests.append(Read(guard.buffer.dtype, _standing(guard, rank)))
    strides = [
        update.strides[axes[d]] if d in axes and -axes[d] <= len(update_shape) and update_shape[axes[d]] > 1 else 0
        for d in range(rank)
    ]
    value: Expression = Read(update.buffer.dtype, Access(update.buffer, update.offset, tuple(strides)))
    numbers = {d: _number(index, rank) for d, index in places.items()}
    if any(isinstance(n, Const) and not 0 <= n.value < extents[d] for d, n in numbers.items()):
        return None
    combine = COMBINE[statement.codelet]
    if combine is not None:
        value = apply(combine, _old(out, extents, numbers), value)
    indexes: list[Expression] = list(numbers.values())
    for test in tests:
        indexes[0] = apply("select", test, indexes[0], Const.of(-1, INDEX), dtype=INDEX)
    sizes = (1,) * len(places)
    return SliceUpdate(extents, statement.origin, tuple(places), tuple(indexes), sizes, value, out, out)


def counting_axis(index: Access, shape: tuple[int, ...], extent: int) -> int | None:
    """The axis, from the last one, along which ``index`` is 0, 1, 2, ... and nothing else, for a whole dimension."""
    long = [axis for axis, n in enumerate(shape) if n > 1]
    value = index.buffer.value
    if value is None or len(long) != 1 or shape[long[0]] != extent or (stride := index.strides[long[0]]) < 1:
        return None
    seen = value[index.offset :][: extent * stride : stride]
    return long[0] - len(shape) if np.array_equal(seen, np.arange(extent)) else None


def _number(index: Access, rank: int) -> Expression:
    """The single number at ``index``."""
    known, dtype = index.buffer.value, index.buffer.dtype
    return Read(dtype, _standing(index, rank)) if known is None else Const.of(known[index.offset], dtype)


def _standing(access: Access, rank: int) -> Access:
    return Access(access.buffer, access.offset, (0,) * rank)


def _old(out: Access, extents: tuple[int, ...], places: dict[int, Expression]) -> Expression:
    """The elements of ``out`` at ``places``; for those outside, where nothing is written, the nearest inside."""
    strides = tuple(0 if d in places else stride for d, stride in enumerate(out.strides))
    if len(places) == 1:
        ((dimension, index),) = places.items()
        return Gather(
            out.buffer.dtype, Access(out.buffer, out.offset, strides), index, out.strides[dimension], extents[dimension]
        )
    total: Expression = Const.of(0, INDEX)
    for dimension, index in places.items():
        last = Const.of(extents[dimension] - 1, INDEX)
        inside = apply("minimum", apply("maximum", index, Const.of(0, INDEX)), last)
        total = apply("add", total, apply("multiply", inside, Const.of(out.strides[dimension], INDEX)))
    limit = 1 + sum((extents[d] - 1) * out.strides[d] for d in places)
    return Gather(out.buffer.dtype, Access(out.buffer, out.offset, strides), total, 1, limit)
