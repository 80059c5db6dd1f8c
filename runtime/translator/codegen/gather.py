"""Gathers: elements whose place depends on data, as ``take`` along one axis."""

from dataclasses import replace

from ipu_mlir.runtime.translator.codegen.schedule import Axes, View
from ipu_mlir.runtime.translator.statements.access import Access, is_contiguous
from ipu_mlir.runtime.translator.statements.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    LoopNumber,
    Read,
    apply,
    reads,
)
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.iota import INDEX, numbers


def flattened(gather: Gather, extents: tuple[int, ...]) -> Gather:
    """The same elements, with the whole address in the index: one axis, every element of the buffer."""
    access = gather.access
    index = _inside(gather, extents)
    if gather.stride != 1:
        index = apply("multiply", index, Const.of(gather.stride, INDEX))
    for loop, stride in enumerate(access.strides):
        if stride and extents[loop] > 1:
            steps = tuple(1 if other == loop else 0 for other in range(len(extents)))
            index = apply("add", index, Read(INDEX, Access(numbers(extents[loop], stride), 0, steps)))
    if access.offset:
        index = apply("add", index, Const.of(access.offset, INDEX))
    standing = Access(access.buffer, 0, (0,) * len(access.strides))
    return replace(gather, access=standing, index=index, stride=1, limit=access.buffer.elements)


def _inside(gather: Gather, extents: tuple[int, ...]) -> Expression:
    """The index, which must not lead on to what lies behind or before the elements that it counts."""
    interval = Ranges(extents).of(gather.index)
    known = interval is not None and interval[0] >= 0 and interval[1] < gather.limit
    if known or isinstance(gather.index, LoopNumber):
        return gather.index
    return Apply(INDEX, "clip", (gather.index, Const.of(0, INDEX), Const.of(gather.limit - 1, INDEX)))


def index_axes(gather: Gather, axes: Axes) -> frozenset[int]:
    """The axes that the index moves with."""
    moving = [axes.strides(access) for access in reads([gather.index])]
    return frozenset(axis for strides in moving for axis, stride in enumerate(strides) if stride)


def source_view(gather: Gather, axes: Axes) -> tuple[View, int] | None:
    """The array to take from, and the axis to take along; None if that is no contiguous memory, or none in a block.

    Its axes are those that the access moves with; the axis of the index stands where the axes of the index stand, which
    must be neighbours.
    """
    strides = axes.strides(gather.access)
    moving = [axis for axis, stride in enumerate(strides) if stride]
    chosen = sorted(index_axes(gather, axes))
    if set(moving) & set(chosen) or any(chosen[0] < axis < chosen[-1] for axis in moving if chosen):
        return None
    before = [axis for axis in moving if chosen and axis < chosen[0]]
    after = moving[len(before) :]
    shape = (*(axes.shape[a] for a in before), gather.limit, *(axes.shape[a] for a in after))
    steps = (*(strides[a] for a in before), gather.stride, *(strides[a] for a in after))
    if not is_contiguous(shape, steps):
        return None
    block, step = axes.block_of((*before, -1, *after)) if axes.block is not None else (None, 1)
    if block is not None and any(extent > 1 for extent in shape[:block]):
        return None  # a block of the array would not be contiguous, and ``take`` would copy all of it
    return View(gather.access.buffer, gather.dtype, gather.access.offset, shape, steps, block, step), len(before)


def squeezed(view: View, rank: int, kept: frozenset[int]) -> View:
    """``view``, whose last axis is axis ``rank`` - 1, with the axes in ``kept`` only."""
    first = rank - len(view.shape)
    positions = [axis - first for axis in sorted(kept)]
    block = None if view.block_axis is None else positions.index(view.block_axis)
    shape, strides = tuple(view.shape[p] for p in positions), tuple(view.strides[p] for p in positions)
    return replace(view, shape=shape, strides=strides, block_axis=block)
