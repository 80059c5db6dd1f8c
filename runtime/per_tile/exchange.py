"""``ipu.exchange``: values move from tile to tile, and every element that moves is counted."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import RunError
from ipu_mlir.runtime.per_tile.copies import Shares, collect, shares_of
from ipu_mlir.runtime.per_tile.errors import LocalityError, place_of
from ipu_mlir.runtime.per_tile.memory import TileMemories, View

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
class Arrival:
    """What one tile gets.

    Attributes:
        positions: where it goes, in what the tile holds of the destination.
        needed: the elements of the source that go there.
        local: which of them the tile has itself, as places in ``positions``.
        at_home: where it has them, in what it holds of the source.
    """

    tile: int
    positions: Counts
    needed: Counts
    local: Counts
    at_home: Counts


class Route:
    """The way of every element of an exchange between two kinds of views; it never depends on values."""

    def __init__(self, source: View, dest: View, memories: TileMemories, location: ir.Location) -> None:
        """Work it out.

        Raises:
            RunError: shapes or types differ.
            LocalityError: no tile holds an element that is needed.
        """
        _check_types(source, dest, location)
        self.location = location
        self.shares: Shares = shares_of(source.allocation.buffer)
        from_elements = source.elements().ravel()
        index_of = np.full(dest.allocation.elements, -1, np.int64)
        index_of[dest.elements().ravel()] = np.arange(from_elements.size)
        self.arrivals = []
        for tile, elements in dest.allocation.buffer.holdings.items():
            positions = np.flatnonzero(index_of[elements] >= 0)
            needed = from_elements[index_of[elements[positions]]]
            if (nowhere := needed[self.shares.owners[needed] < 0]).size:
                raise LocalityError(
                    f"{place_of(location)}: the exchange needs element {nowhere[0]} of {source.allocation.name}, "
                    "which lies on no tile"
                )
            mine = source.allocation.buffer.holdings.get(tile, np.empty(0, np.int64))
            local = np.flatnonzero(np.isin(needed, mine))
            self.arrivals.append(Arrival(tile, positions, needed, local, np.searchsorted(mine, needed[local])))
        self.traffic = self._count(source, memories.num_tiles)

    @property
    def size(self) -> int:
        """Elements that the arrays of the route have in all."""
        return 2 * len(self.shares.owners) + sum(2 * x.positions.size + 2 * x.local.size for x in self.arrivals)

    def move(self, source: View, dest: View, memories: TileMemories) -> None:
        """Copy the values of ``source`` to every tile that holds the same element of ``dest``.

        A tile takes an element from its own memory if it lies there, and else from the lowest tile that holds it. What
        was never written moves as such: only its use is an error.

        Raises:
            RunError: ``dest`` must not be written.
            IncoherentError: two tiles hold different values for one element of ``source``.
        """
        if not dest.allocation.writable:
            raise RunError(
                f"{place_of(self.location)}: the exchange writes {dest.allocation.name}, an argument or a constant; "
                "write to an allocation"
            )
        copies = collect(source.allocation, self.shares, memories, self.location)
        writes = []
        for arrival in self.arrivals:
            values, valid = copies.values[arrival.needed], copies.valid[arrival.needed]
            if arrival.local.size:
                mine = memories.on(arrival.tile, source.allocation)
                values[arrival.local], valid[arrival.local] = mine.values[arrival.at_home], mine.valid[arrival.at_home]
            writes.append((memories.on(arrival.tile, dest.allocation), arrival.positions, values, valid))
        for held, positions, values, valid in writes:
            held.overwrite(positions, values, valid)

    def _count(self, source: View, num_tiles: int) -> Traffic:
        received, sent, local = (np.zeros(num_tiles, np.int64) for _ in range(3))
        is_sent = np.zeros(source.allocation.elements, np.bool_)
        for arrival in self.arrivals:
            is_sent[np.delete(arrival.needed, arrival.local)] = True
            local[arrival.tile] = arrival.local.size
            received[arrival.tile] = arrival.positions.size - arrival.local.size
        np.add.at(sent, self.shares.owners[is_sent], 1)
        return Traffic(place_of(self.location), source.allocation.buffer.element_bytes, received, sent, local)


def _check_types(source: View, dest: View, location: ir.Location) -> None:
    found, expected = (dest.shape, dest.allocation.dtype), (source.shape, source.allocation.dtype)
    if found != expected:
        raise RunError(
            f"{place_of(location)}: the exchange moves {expected[1]} {expected[0]} into {found[1]} {found[0]}"
        )
