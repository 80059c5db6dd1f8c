"""The elements of an allocation, whichever tiles hold them: one copy of each, and a check that all copies agree."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.runtime.per_tile.element_types import same_bits
from ipu_mlir.runtime.per_tile.errors import IncoherentError, place_of
from ipu_mlir.runtime.per_tile.memory import Allocation, Buffer, TileMemories

Array = np.ndarray[Any, Any]
Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Share:
    """What one tile holds of a buffer: ``first`` are the positions that no lower tile holds, ``again`` the others."""

    tile: int
    first: Counts
    first_elements: Counts
    again: Counts
    again_elements: Counts


@dataclass(frozen=True)
class Shares:
    """Who holds what of a buffer.

    Attributes:
        owners: per element the lowest tile that holds it; -1 where none does.
    """

    owners: Counts
    by_tile: tuple[Share, ...]


@dataclass(frozen=True)
class Copies:
    """One copy per element of an allocation, of the lowest tile that holds it."""

    values: Array
    valid: np.ndarray[Any, np.dtype[np.bool_]]


def shares_of(buffer: Buffer) -> Shares:
    """Who holds what of ``buffer``."""
    owners = np.full(buffer.mapping.elements, -1, np.int64)
    shares = []
    for tile, elements in buffer.holdings.items():
        is_first = owners[elements] < 0
        first, again = np.flatnonzero(is_first), np.flatnonzero(~is_first)
        shares.append(Share(tile, first, elements[first], again, elements[again]))
        owners[elements[first]] = tile
    return Shares(owners, tuple(shares))


def collect(allocation: Allocation, shares: Shares, memories: TileMemories, location: ir.Location) -> Copies:
    """The copies of all elements.

    Raises:
        IncoherentError: two tiles hold different values, both written, for one element.
    """
    values, valid = np.zeros(allocation.elements, allocation.dtype), np.zeros(allocation.elements, np.bool_)
    for share in shares.by_tile:
        held = memories.on(share.tile, allocation)
        if share.again.size:
            mine, known = held.values[share.again], values[share.again_elements]
            differs = valid[share.again_elements] & held.valid[share.again] & ~same_bits(known, mine)
            if differs.any():
                position = int(np.argmax(differs))
                element = int(share.again_elements[position])
                raise IncoherentError(
                    f"{place_of(location)}: element {element} of {allocation.name} is {known[position]} on tile "
                    f"{shares.owners[element]} and {mine[position]} on tile {share.tile}; every tile that holds an "
                    "element must compute it alike"
                )
        values[share.first_elements], valid[share.first_elements] = held.values[share.first], held.valid[share.first]
    return Copies(values, valid)
