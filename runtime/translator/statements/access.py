"""The elements of a buffer that a loop nest touches: one linear form for views, transposes, windows and broadcasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np


class Role(Enum):
    """The origin of a buffer's memory."""

    ARGUMENT = "argument"
    STATE = "state"
    """Of somebody else, as an argument, but written in place: it is there before and after a run."""
    TEMPORARY = "temporary"
    CONSTANT = "constant"


@dataclass(frozen=True, eq=False)
class Buffer:
    """Memory of ``elements`` elements; compared by identity.

    ``value`` is the flat array of a constant. ``shape`` is how the program speaks of the whole buffer. A ``mutable``
    buffer is written by several statements, or in part; any other by one statement, completely. ``home`` is the path
    of the block that allocates the buffer; None for one that the translator makes up, which lives where it is used.
    ``narrow`` names the float type of 16 or 8 bits that its f32 numbers have in the program.
    """

    name: str
    elements: int
    dtype: np.dtype[Any]
    role: Role
    shape: tuple[int, ...] = ()
    value: np.ndarray | None = None
    mutable: bool = False
    home: tuple[int, ...] | None = None
    narrow: str | None = None
    bounds: tuple[int, int] | None = None
    """Of an integer of which that is known: the lowest and the highest that it holds."""
    counts: bool = False
    """True for the variable of a loop."""

    def __repr__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True)
class Access:
    """Element ``offset + sum(strides[l] * i_l)`` of ``buffer``, for loop indices ``i_l``; all in elements."""

    buffer: Buffer
    offset: int
    strides: tuple[int, ...]

    def loops(self) -> frozenset[int]:
        """The loops that this access moves with."""
        return frozenset(loop for loop, stride in enumerate(self.strides) if stride)


@dataclass(frozen=True)
class Digit:
    """One loop seen as a digit of the row-major address: values 0 .. ``extent`` - 1, worth ``stride`` each."""

    loop: int
    extent: int
    stride: int


def digits_of_cover(access: Access, extents: tuple[int, ...]) -> list[Digit] | None:
    """The loops of ``access`` as the digits of a number, most significant first, if it names each element exactly once.

    >>> b = Buffer("b", 6, np.dtype("f4"), Role.TEMPORARY)
    >>> [d.loop for d in digits_of_cover(Access(b, 0, (1, 2)), (2, 3))]
    [1, 0]
    >>> digits_of_cover(Access(b, 0, (1,)), (5,)) is None
    True
    """
    if access.offset != 0:
        return None
    digits = []
    for loop, (extent, stride) in enumerate(zip(extents, access.strides, strict=True)):
        if extent == 1:
            continue
        if stride <= 0:
            return None
        digits.append(Digit(loop, extent, stride))
    digits.sort(key=lambda digit: -digit.stride)
    expected = 1
    for digit in reversed(digits):
        if digit.stride != expected:
            return None
        expected *= digit.extent
    return digits if expected == access.buffer.elements else None


def merged_loops(
    extents: Sequence[int], strides: Sequence[Sequence[int]], kinds: Sequence[object], first: int | None = None
) -> list[list[int]]:
    """Neighbouring loops that act as one in all operands (given by their strides), as lists of loops.

    Loops of different ``kinds`` stay apart; ``first`` is the first of its list. Loops of extent 1 are left out.

    >>> merged_loops((2, 3, 4), [(12, 4, 1), (0, 0, 1)], "ppp")
    [[0, 1], [2]]
    """
    groups: list[list[int]] = []
    for loop, extent in enumerate(extents):
        if extent == 1:
            continue
        if groups and loop != first and kinds[loop] == kinds[groups[-1][-1]]:
            before = groups[-1][-1]
            if all(steps[before] == steps[loop] * extent for steps in strides):
                groups[-1].append(loop)
                continue
        groups.append([loop])
    return groups


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a contiguous array.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """True if such an array lies row by row without gaps; the stride of an axis of one element says nothing."""
    return all(s == r or n == 1 for s, r, n in zip(strides, row_major(shape), shape, strict=True))


def temporary(name: str, dtype: np.dtype[Any], extents: tuple[int, ...], loops: list[int]) -> Access:
    """A new buffer over ``loops`` (outermost first), contiguous; its stride is 0 in all other loops."""
    strides, stride = [0] * len(extents), 1
    for loop in reversed(loops):
        strides[loop] = stride if extents[loop] > 1 else 0
        stride *= extents[loop]
    shape = tuple(extents[loop] for loop in loops)
    return Access(Buffer(name, stride, dtype, Role.TEMPORARY, shape), 0, tuple(strides))
