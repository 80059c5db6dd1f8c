"""The iterations of one vertex, or of a piece of it, as arrays of loop indices."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.runtime.per_tile.memory.holdings import Box

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class LoopSpace:
    """A box of global loop indices, laid out with an axis per loop: the reduction loops first, then the parallel ones.

    Attributes:
        box: the indices of each loop, in the order of the op's loops.
        is_reduction: per loop, whether it is reduced over.
    """

    box: Box
    is_reduction: tuple[bool, ...]

    @cached_property
    def num_reductions(self) -> int:
        return sum(self.is_reduction)

    @cached_property
    def axes(self) -> list[int]:
        """The loop of each axis."""
        return sorted(range(len(self.box)), key=lambda loop: (not self.is_reduction[loop], loop))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(self.box[loop]) for loop in self.axes)

    @cached_property
    def reduction_shape(self) -> tuple[int, ...]:
        return self.shape[: self.num_reductions]

    @cached_property
    def parallel_shape(self) -> tuple[int, ...]:
        return self.shape[self.num_reductions :]

    def loops(self) -> list[Array]:
        """The indices of each loop along its axis; the arrays broadcast to ``shape``."""
        return list(self._loops)

    @cached_property
    def _loops(self) -> tuple[Array, ...]:
        found = []
        for loop, indices in enumerate(self.box):
            shape = [1] * len(self.box)
            shape[self.axes.index(loop)] = len(indices)
            found.append(np.arange(indices.start, indices.stop).reshape(shape))
        return tuple(found)

    def steps(self) -> Iterator[tuple[int, ...]]:
        """Positions on the reduction axes, in the order in which the loops run."""
        return product(*(range(size) for size in self.reduction_shape))

    def at_step(self, array: Array, step: tuple[int, ...]) -> Array:
        """The part of ``array`` (which broadcasts to ``shape``) at one step, over the parallel axes."""
        found: Array = array[
            tuple(position if size > 1 else 0 for position, size in zip(step, array.shape, strict=False))
        ]
        return found

    def halves(self, only_reductions: bool) -> tuple["LoopSpace", "LoopSpace"]:
        """The first and the second half of the outermost loop that has more than one iteration.

        Running one after the other keeps the order of every reduction: loops further in are whole in both.
        """
        loop = next(
            loop
            for loop, indices in enumerate(self.box)
            if len(indices) > 1 and (self.is_reduction[loop] or not only_reductions)
        )
        middle = len(self.box[loop]) // 2

        def part(indices: range) -> "LoopSpace":
            return LoopSpace((*self.box[:loop], indices, *self.box[loop + 1 :]), self.is_reduction)

        return part(self.box[loop][:middle]), part(self.box[loop][middle:])


def pieces(
    space: LoopSpace, is_too_large: Callable[[LoopSpace], bool], output_moves: Callable[[LoopSpace], bool]
) -> Iterator[LoopSpace]:
    """``space`` cut, in the order of its loops, until no piece is too large and no output moves over a reduction."""
    if prod(space.shape) > 1 and is_too_large(space):
        only_reductions = False
    elif prod(space.reduction_shape) > 1 and output_moves(space):
        only_reductions = True
    else:
        yield space
        return
    for half in space.halves(only_reductions):
        yield from pieces(half, is_too_large, output_moves)
