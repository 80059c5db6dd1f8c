"""Views on tensors: which elements of an allocation-to-be a slice or a reshape shows.

Bufferization will give a slice, a collapse or an expand the memory of its source. Placing asks beforehand which
elements that will be.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import mul

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir

VIEW_OPS = frozenset(("tensor.extract_slice", "tensor.collapse_shape", "tensor.expand_shape"))


@dataclass(frozen=True)
class Window:
    """Elements of an allocation: element ``(i, j)`` is number ``offset + i * strides[0] + j * strides[1]``."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


def row_major(shape: Sequence[int]) -> Window:
    """A whole allocation.

    >>> row_major((2, 3, 4)).strides
    (12, 4, 1)
    """
    return Window(tuple(shape), tuple(reversed(list(accumulate(reversed(shape[1:]), mul, initial=1)))) if shape else ())


def sliced(window: Window, offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> Window:
    """The part of ``window`` that ``tensor.extract_slice`` shows, before unit dimensions are dropped.

    >>> sliced(row_major((4, 6)), (1, 2), (2, 2), (1, 2))
    Window(shape=(2, 2), strides=(6, 2), offset=8)
    """
    return Window(
        tuple(sizes),
        tuple(stride * step for stride, step in zip(window.strides, steps, strict=True)),
        window.offset + sum(stride * start for stride, start in zip(window.strides, offsets, strict=True)),
    )


def without_dropped(window: Window, shape: Sequence[int]) -> Window:
    """``window`` without the unit dimensions that ``shape`` does not have.

    >>> without_dropped(Window((1, 3, 1), (9, 3, 1)), (3, 1))
    Window(shape=(3, 1), strides=(3, 1), offset=0)
    >>> without_dropped(Window((1, 3, 1, 1), (9, 3, 1, 1)), (1, 3, 1))
    Window(shape=(1, 3, 1), strides=(9, 3, 1), offset=0)
    """
    kept: list[int] = []
    wanted = list(shape)
    for dimension in reversed(range(len(window.shape))):  # of neighbours of size 1, the last is kept
        if wanted and window.shape[dimension] == wanted[-1]:
            kept.append(dimension)
            wanted.pop()
    return Window(tuple(shape), tuple(window.strides[dimension] for dimension in reversed(kept)), window.offset)


def collapsed(window: Window, groups: Sequence[Sequence[int]]) -> Window | None:
    """``window`` with each group of dimensions as one; None where the elements of a group are not evenly spaced.

    >>> collapsed(row_major((2, 3, 4)), ((0, 1), (2,)))
    Window(shape=(6, 4), strides=(4, 1), offset=0)
    >>> collapsed(Window((2, 3), (8, 1)), ((0, 1),)) is None
    True
    """
    shape, strides = [], []
    for group in groups:
        dimensions = [d for d in group if window.shape[d] != 1] or list(group[-1:])
        for outer, inner in pairwise(dimensions):
            if window.strides[outer] != window.strides[inner] * window.shape[inner]:
                return None
        size = 1
        for dimension in group:
            size *= window.shape[dimension]
        shape.append(size)
        strides.append(window.strides[dimensions[-1]] if dimensions else 1)
    return replace(window, shape=tuple(shape), strides=tuple(strides))


def expanded(window: Window, groups: Sequence[Sequence[int]], shape: Sequence[int]) -> Window:
    """``window`` with each dimension as the group of dimensions that it is made of.

    >>> expanded(Window((6,), (4,)), ((0, 1),), (2, 3))
    Window(shape=(2, 3), strides=(12, 4), offset=0)
    """
    strides = [1] * len(shape)
    for stride, group in zip(window.strides, groups, strict=False):
        for dimension in reversed(list(group)):
            strides[dimension] = stride
            stride *= shape[dimension]
    return replace(window, shape=tuple(shape), strides=tuple(strides))


def window_of(value: ir.Value) -> tuple[ir.Value, Window] | None:
    """The tensor whose memory ``value`` will show, and which elements; None where it will be memory of its own."""
    owner = defining_op(value, *VIEW_OPS)
    if owner is None:
        return value, row_major(value.type.shape)
    found = window_of(owner.operands[0])
    if found is None:
        return None
    root, window = found
    attributes = owner.attributes
    if owner.name == "tensor.extract_slice":
        if len(owner.operands) > 1:
            return None  # dynamic offsets
        cut = sliced(window, *(list(attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides")))
        return root, without_dropped(cut, value.type.shape)
    groups = [[ir.IntegerAttr(d).value for d in group] for group in attributes["reassociation"]]
    if owner.name == "tensor.expand_shape":
        return root, expanded(window, groups, value.type.shape)
    narrower = collapsed(window, groups)
    return None if narrower is None else (root, narrower)
