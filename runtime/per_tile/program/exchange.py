"""``ipu.exchange``: values move from tile to tile, and every element that moves is counted."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.memory.tile_memories import TileMemories, View
from ipu_mlir.runtime.per_tile.program.copies import copies_of, read_copies
from ipu_mlir.runtime.per_tile.scalar.errors import LocalityError

Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Traffic:
    """Elements that one run of one exchange moved.

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


class Route:
    """The way of every element of an exchange between two kinds of views; it never depends on values."""

    def __init__(self, source: View, dest: View, memories: TileMemories, location: ir.Location) -> None:
        """Work it out: a tile takes an element from its own memory if it lies there, else from the lowest holder.

        Raises:
            RunError: shapes or types differ.
            LocalityError: no tile holds an element that is needed.
        """
        _check_types(source, dest, location)
        self.location = location
        self._copies = copies_of(source.allocation.buffer)
        from_elements = source.elements().ravel()
        index_of = np.full(dest.allocation.elements, -1, np.int64)
        index_of[dest.elements().ravel()] = np.arange(from_elements.size)
        self._arrivals: list[tuple[int, Counts, Counts]] = []
        """Per tile, positions in what it holds of ``dest``, and the places in the copies that go there."""
        for tile, elements in dest.allocation.buffer.holdings.items():
            positions = np.flatnonzero(index_of[elements] >= 0)
            needed = from_elements[index_of[elements[positions]]]
            places = self._copies.first[needed]
            if (nowhere := needed[places < 0]).size:
                raise LocalityError(
                    f"{place_of(location)}: the exchange needs element {nowhere[0]} of {source.allocation.name}, "
                    "which lies on no tile"
                )
            start, end = np.searchsorted(self._copies.tiles, (tile, tile + 1))
            at_home = start + np.searchsorted(self._copies.elements[start:end], needed)
            is_local = at_home < end
            is_local[is_local] = self._copies.elements[at_home[is_local]] == needed[is_local]
            self._arrivals.append((tile, positions, np.where(is_local, at_home, places)))
        self.traffic = self._count(source.allocation.buffer.element_bytes, memories.num_tiles)

    @property
    def size(self) -> int:
        """Elements that the arrays of the route have in all."""
        return self._copies.size + sum(2 * positions.size for _, positions, _ in self._arrivals)

    def move(self, source: View, dest: View, memories: TileMemories) -> None:
        """Copy the values of ``source`` to every tile that holds the same element of ``dest``.

        What was never written moves as such: only its use is an error.

        Raises:
            RunError: ``dest`` must not be written.
            IncoherentError: two tiles hold different values for one element of ``source``.
        """
        if not dest.allocation.writable:
            raise RunError(
                f"{place_of(self.location)}: the exchange writes {dest.allocation.name}, an argument or a constant; "
                "write to an allocation"
            )
        values, valid = read_copies(source.allocation, self._copies, memories, self.location)
        for tile, positions, places in self._arrivals:
            memories.on(tile, dest.allocation).overwrite(positions, values[places], valid[places])

    def _count(self, element_bytes: int, num_tiles: int) -> Traffic:
        received, local = np.zeros(num_tiles, np.int64), np.zeros(num_tiles, np.int64)
        is_sent = np.zeros(self._copies.elements.shape, np.bool_)
        for tile, _, places in self._arrivals:
            is_local = self._copies.tiles[places] == tile
            is_sent[places[~is_local]] = True
            local[tile], received[tile] = is_local.sum(), (~is_local).sum()
        sent = np.bincount(self._copies.tiles[is_sent], minlength=num_tiles)
        return Traffic(place_of(self.location), element_bytes, received, sent, local)


def _check_types(source: View, dest: View, location: ir.Location) -> None:
    found, expected = (dest.shape, dest.allocation.dtype), (source.shape, source.allocation.dtype)
    if found != expected:
        raise RunError(
            f"{place_of(location)}: the exchange moves {expected[1]} {expected[0]} into {found[1]} {found[0]}"
        )
