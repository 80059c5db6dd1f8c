"""Views on tensors: which elements of an allocation-to-be a slice or a reshape shows.

Bufferization will give a slice, a collapse or an expand the memory of its source. Placing asks beforehand which
elements that will be.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.bindings import ir

VIEW_OPS = frozenset(("tensor.extract_slice", "tensor.collapse_shape", "tensor.expand_shape"))

DYNAMIC = ir.ShapedType.get_dynamic_stride_or_offset()
"""In place of an offset, a size or a step of a slice: a value that is known at run time."""


def slice_offsets(op: ir.Operation) -> list[ir.Value | int]:
    """The offset in each dimension of a slice that is taken or inserted, whose sizes and steps are static."""
    given = iter(list(op.operands)[2 if op.name == "tensor.insert_slice" else 1 :])
    return [next(given) if offset == DYNAMIC else offset for offset in op.attributes["static_offsets"]]


def slice_dimensions(sizes: Sequence[int], shape: Sequence[int]) -> list[int | None]:
    """Per dimension of a slice, that of the tensor of ``shape`` which it is; None for one of size 1 that is dropped.

    >>> slice_dimensions((1, 4, 1), (4, 1))
    [None, 0, 1]
    """
    dropped = len(sizes) - len(shape)
    dimensions: list[int | None] = []
    for size in sizes:
        at = sum(dimension is not None for dimension in dimensions)
        drop = dropped > 0 and size == 1 and (at >= len(shape) or shape[at] != 1)
        dropped -= drop
        dimensions.append(None if drop else at)
    return dimensions


def sliced(view: View, offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> View:
    """The part of ``view`` that ``tensor.extract_slice`` shows, before unit dimensions are dropped.

    >>> sliced(View.whole((4, 6)), (1, 2), (2, 2), (1, 2))
    View(offset=8, shape=(2, 2), strides=(6, 2))
    """
    return View(
        view.offset + sum(stride * start for stride, start in zip(view.strides, offsets, strict=True)),
        tuple(sizes),
        tuple(stride * step for stride, step in zip(view.strides, steps, strict=True)),
    )


def without_dropped(view: View, shape: Sequence[int]) -> View:
    """``view`` without the unit dimensions that ``shape`` does not have.

    >>> without_dropped(View(0, (1, 3, 1), (9, 3, 1)), (3, 1))
    View(offset=0, shape=(3, 1), strides=(3, 1))
    >>> without_dropped(View(0, (1, 3, 1, 1), (9, 3, 1, 1)), (1, 3, 1))
    View(offset=0, shape=(1, 3, 1), strides=(9, 3, 1))
    """
    kept: list[int] = []
    wanted = list(shape)
    for dimension in reversed(range(len(view.shape))):  # of neighbours of size 1, the last is kept
        if wanted and view.shape[dimension] == wanted[-1]:
            kept.append(dimension)
            wanted.pop()
    return View(view.offset, tuple(shape), tuple(view.strides[dimension] for dimension in reversed(kept)))


def collapsed(view: View, groups: Sequence[Sequence[int]]) -> View | None:
    """``view`` with each group of dimensions as one; None where the elements of a group are not evenly spaced.

    >>> collapsed(View.whole((2, 3, 4)), ((0, 1), (2,)))
    View(offset=0, shape=(6, 4), strides=(4, 1))
    >>> collapsed(View(0, (2, 3), (8, 1)), ((0, 1),)) is None
    True
    """
    shape, strides = [], []
    for group in groups:
        dimensions = [d for d in group if view.shape[d] != 1] or list(group[-1:])
        for outer, inner in pairwise(dimensions):
            if view.strides[outer] != view.strides[inner] * view.shape[inner]:
                return None
        shape.append(prod(view.shape[d] for d in group))
        strides.append(view.strides[dimensions[-1]] if dimensions else 1)
    return replace(view, shape=tuple(shape), strides=tuple(strides))


def expanded(view: View, groups: Sequence[Sequence[int]], shape: Sequence[int]) -> View:
    """``view`` with each dimension as the group of dimensions that it is made of.

    >>> expanded(View(0, (6,), (4,)), ((0, 1),), (2, 3))
    View(offset=0, shape=(2, 3), strides=(12, 4))
    """
    strides = [1] * len(shape)
    for stride, group in zip(view.strides, groups, strict=False):
        for dimension in reversed(list(group)):
            strides[dimension] = stride
            stride *= shape[dimension]
    return replace(view, shape=tuple(shape), strides=tuple(strides))


def view_of(value: ir.Value) -> tuple[ir.Value, View] | None:
    """The tensor whose memory ``value`` will show, and which elements; None where it will be memory of its own."""
    owner = defining_op(value, *VIEW_OPS)
    if owner is None:
        return value, View.whole(tuple(value.type.shape))
    found = view_of(owner.operands[0])
    if found is None:
        return None
    root, view = found
    attributes = owner.attributes
    if owner.name == "tensor.extract_slice":
        if len(owner.operands) > 1:
            return None  # dynamic offsets
        cut = sliced(view, *(list(attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides")))
        return root, without_dropped(cut, value.type.shape)
    groups = [[ir.IntegerAttr(d).value for d in group] for group in attributes["reassociation"]]
    if owner.name == "tensor.expand_shape":
        return root, expanded(view, groups, value.type.shape)
    narrower = collapsed(view, groups)
    return None if narrower is None else (root, narrower)
