"""The memory of all tiles for one allocation, side by side, and a check that copies of one element agree."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.memory.tile_memories import Allocation, Buffer, TileMemories
from ipu_mlir.runtime.per_tile.scalar.element_types import same_bits
from ipu_mlir.runtime.per_tile.scalar.errors import IncoherentError

Array = np.ndarray[Any, Any]
Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Copies:
    """The memory of all tiles that hold a buffer, one after the other by rising tile, each by rising element.

    Attributes:
        tiles: per place in that memory, its tile.
        elements: per place, the element that lies there.
        first: per element, the place on the lowest tile that holds it; -1 where no tile does.
    """

    tiles: Counts
    elements: Counts
    first: Counts

    @cached_property
    def again(self) -> Counts:
        """The places of elements that a lower tile holds too."""
        return np.flatnonzero(self.first[self.elements] != np.arange(self.elements.size))

    @property
    def size(self) -> int:
        """Elements that its arrays have in all."""
        return 2 * self.elements.size + self.first.size


def copies_of(buffer: Buffer) -> Copies:
    """The places of the copies of every element of ``buffer``."""
    nothing = np.empty(0, np.int64)
    elements = np.concatenate([nothing, *buffer.holdings.values()])
    tiles = np.repeat(list(buffer.holdings) or nothing, [len(held) for held in buffer.holdings.values()])
    first = np.full(buffer.mapping.elements, -1, np.int64)
    first[elements[::-1]] = np.arange(elements.size)[::-1]
    return Copies(tiles, elements, first)


def read_copies(
    allocation: Allocation, copies: Copies, memories: TileMemories, location: ir.Location
) -> tuple[Array, Array]:
    """Per place, its value and whether it was ever written.

    Raises:
        IncoherentError: two tiles hold different values, both written, for one element.
    """
    holders = memories.holders(allocation)
    values = np.concatenate([np.empty(0, allocation.dtype), *(held.values for held in holders)])
    if all(held.is_complete for held in holders):
        valid = np.ones(values.shape, np.bool_)
    else:
        valid = np.concatenate([held.valid for held in holders])
    if copies.again.size:
        known = copies.first[copies.elements[copies.again]]
        differs = valid[known] & valid[copies.again] & ~same_bits(values[known], values[copies.again])
        if differs.any():
            number = int(np.argmax(differs))
            here, there = int(known[number]), int(copies.again[number])
            raise IncoherentError(
                f"{place_of(location)}: element {copies.elements[here]} of {allocation.name} is {values[here]} on tile "
                f"{copies.tiles[here]} and {values[there]} on tile {copies.tiles[there]}; every tile that holds an "
                "element must compute it alike"
            )
    return values, valid
