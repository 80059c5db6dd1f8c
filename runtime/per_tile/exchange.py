"""``ipu.exchange``: values move from tile to tile, and every element that moves is counted."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import RunError
from ipu_mlir.runtime.per_tile.element_types import same_bits
from ipu_mlir.runtime.per_tile.errors import IncoherentError, LocalityError, place_of
from ipu_mlir.runtime.per_tile.memory import Allocation, TileMemories, View

Array = np.ndarray[Any, Any]
Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Traffic:
    """What one run of one exchange moved.

    Attributes:
        location: where the exchange stands in the program.
        element_bytes: bytes of one element.
        received: elements that each tile got from other tiles, shape (num_tiles,).
        sent: elements that each tile gave to other tiles; one that several tiles get counts once.
        local: elements that each tile copied from its own memory.
    """

    location: str
    element_bytes: int
    received: Counts
    sent: Counts
    local: Counts

    @property
    def received_bytes(self) -> Counts:
        return self.received * self.element_bytes

    @property
    def sent_bytes(self) -> Counts:
        return self.sent * self.element_bytes

    @property
    def local_bytes(self) -> Counts:
        return self.local * self.element_bytes


@dataclass(frozen=True)
class Copies:
    """One copy per element of an allocation, of the lowest tile that holds it.

    Attributes:
        owners: the tile; -1 where no tile holds the element.
    """

    owners: Counts
    values: Array
    valid: np.ndarray[Any, np.dtype[np.bool_]]


def collect(allocation: Allocation, memories: TileMemories, location: ir.Location) -> Copies:
    """The copies of all elements.

    Raises:
        IncoherentError: two tiles hold different values, both written, for one element.
    """
    owners = np.full(allocation.elements, -1, np.int64)
    values = np.zeros(allocation.elements, allocation.dtype)
    valid = np.zeros(allocation.elements, np.bool_)
    for held in memories.holders(allocation):
        where = held.elements
        known = owners[where] >= 0
        differs = known & valid[where] & held.valid & ~same_bits(values[where], held.values)
        if differs.any():
            position = int(np.argmax(differs))
            element = int(where[position])
            raise IncoherentError(
                f"{place_of(location)}: element {element} of {allocation.name} is {values[element]} on tile "
                f"{owners[element]} and {held.values[position]} on tile {held.tile}; every tile that holds an element "
                "must compute it alike"
            )
        new = where[~known]
        owners[new], values[new], valid[new] = held.tile, held.values[~known], held.valid[~known]
    return Copies(owners, values, valid)


def run_exchange(source: View, dest: View, memories: TileMemories, location: ir.Location) -> Traffic:
    """Copy the values of ``source`` to every tile that holds the same element of ``dest``.

    A tile takes an element from its own memory if it lies there, and else from the lowest tile that holds it. What was
    never written moves as such: only its use is an error.

    Raises:
        RunError: shapes or types differ, or ``dest`` must not be written.
        LocalityError: no tile holds an element that is needed.
    """
    _check(source, dest, location)
    copies = collect(source.allocation, memories, location)
    from_elements, to_elements = source.elements().ravel(), dest.elements().ravel()
    index_of = np.full(dest.allocation.elements, -1, np.int64)
    index_of[to_elements] = np.arange(to_elements.size)
    received, sent, local = (np.zeros(memories.num_tiles, np.int64) for _ in range(3))
    is_sent = np.zeros(source.allocation.elements, np.bool_)
    writes = []
    for held in memories.holders(dest.allocation):
        positions = np.flatnonzero(index_of[held.elements] >= 0)
        needed = from_elements[index_of[held.elements[positions]]]
        mine = memories.on(held.tile, source.allocation)
        is_local = np.isin(needed, mine.elements)
        if (nowhere := needed[copies.owners[needed] < 0]).size:
            raise LocalityError(
                f"{place_of(location)}: the exchange needs element {nowhere[0]} of {source.allocation.name}, "
                "which lies on no tile"
            )
        values, valid = copies.values[needed], copies.valid[needed]
        at_home = np.searchsorted(mine.elements, needed[is_local])
        values[is_local], valid[is_local] = mine.values[at_home], mine.valid[at_home]
        writes.append((held, positions, values, valid))
        is_sent[needed[~is_local]] = True
        local[held.tile] = is_local.sum()
        received[held.tile] = (~is_local).sum()
    for held, positions, values, valid in writes:
        held.values[positions], held.valid[positions] = values, valid
    np.add.at(sent, copies.owners[is_sent], 1)
    return Traffic(place_of(location), source.allocation.dtype.itemsize, received, sent, local)


def _check(source: View, dest: View, location: ir.Location) -> None:
    if not dest.allocation.writable:
        raise RunError(
            f"{place_of(location)}: the exchange writes {dest.allocation.name}, an argument or a constant; "
            "write to an allocation"
        )
    found, expected = (dest.shape, dest.allocation.dtype), (source.shape, source.allocation.dtype)
    if found != expected:
        raise RunError(
            f"{place_of(location)}: the exchange moves {expected[1]} {expected[0]} into {found[1]} {found[0]}"
        )
