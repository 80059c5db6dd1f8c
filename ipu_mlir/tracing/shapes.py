"""Arithmetic of shapes and axes, by NumPy's rules. Plain values: nothing here knows about tracing.

The functions raise ``ValueError`` (``IndexError`` for axes) with a message for the user; callers give it a place.
"""

import math
from collections.abc import Iterable, Sequence

Shape = tuple[int, ...]


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """The shape that all of ``shapes`` broadcast to.

    >>> broadcast_shapes([(3, 1), (4,), ()])
    (3, 4)
    """
    rank = max(map(len, shapes))
    result: list[int] = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            shown = " and ".join(map(str, dict.fromkeys(shapes)))
            raise ValueError(
                f"shapes {shown} do not broadcast: their sizes {sorted(sizes)} at axis {axis} differ and none is 1; "
                "reshape one of them, or add an axis with [..., None]"
            )
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def normalize_axis(axis: int, rank: int) -> int:
    """``axis`` counted from the front.

    >>> normalize_axis(-1, rank=3)
    2
    """
    if not -rank <= axis < rank:
        use = f"use -{rank} .. {rank - 1}" if rank else "leave the axis out"
        raise IndexError(f"axis {axis} is out of range for a tensor of {rank} dimensions; {use}")
    return axis % rank


def normalize_axes(axes: int | Iterable[int] | None, rank: int) -> tuple[int, ...]:
    """The axes counted from the front, in ascending order; None stands for all of them.

    >>> normalize_axes((-1, 0), rank=3)
    (0, 2)
    """
    if axes is None:
        return tuple(range(rank))
    given = list(axes) if isinstance(axes, Iterable) else [axes]
    found = [normalize_axis(int(axis), rank) for axis in given]
    if len(set(found)) != len(found):
        raise ValueError(f"axes {tuple(given)} name one axis twice")
    return tuple(sorted(found))


def resolve_reshape(shape: Shape, wanted: int | Sequence[int]) -> Shape:
    """``wanted`` with its -1, if it has one, replaced by what is left.

    >>> resolve_reshape((4, 6), (8, -1))
    (8, 3)
    """
    sizes = [int(size) for size in (wanted if isinstance(wanted, Iterable) else [wanted])]
    total = math.prod(shape)
    known = math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise ValueError(f"cannot reshape to {tuple(sizes)}: sizes are not negative, but that one may be -1")
    if -1 in sizes and known and total % known == 0:
        sizes[sizes.index(-1)] = total // known
    if -1 in sizes or math.prod(sizes) != total:
        raise ValueError(f"cannot reshape {shape} with {total} elements to {tuple(sizes)}")
    return tuple(sizes)


def reshape_groups(source: Shape, target: Shape) -> list[tuple[list[int], list[int]]]:
    """The finest split of both shapes into consecutive groups of dimensions with as many elements.

    Every group has at least one dimension on each side; both shapes have one, and as many elements.

    >>> reshape_groups((4, 6, 5), (2, 2, 30))
    [([0], [0, 1]), ([1, 2], [2])]
    """
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(source) and j < len(target):
        left, right = [i], [j]
        product_left, product_right = source[i], target[j]
        i, j = i + 1, j + 1
        while product_left != product_right:
            if product_left < product_right:
                product_left *= source[i]
                left.append(i)
                i += 1
            else:
                product_right *= target[j]
                right.append(j)
                j += 1
        groups.append((left, right))
    # What is left has size 1.
    groups[-1][0].extend(range(i, len(source)))
    groups[-1][1].extend(range(j, len(target)))
    return groups
