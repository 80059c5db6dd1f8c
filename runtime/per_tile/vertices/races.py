"""The elements that each family touches during one compute set, and the refusal where that is a race."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.memory.tile_memories import Allocation, Held
from ipu_mlir.runtime.per_tile.scalar.errors import RaceError

_NOBODY, _SEVERAL = -1, -2


class AccessLog:
    """Readers and writers of every element during one compute set.

    Vertices of one family are on tiles of their own, so only vertices of two families can share an element; all of
    them run at once, so none may see what another writes.
    """

    def __init__(self, num_families: int) -> None:
        self._alone = num_families == 1
        self._readers: dict[tuple[int, Allocation], np.ndarray[Any, Any]] = {}
        self._writers: dict[tuple[int, Allocation], np.ndarray[Any, Any]] = {}
        self._locations: list[ir.Location] = []

    def start_family(self, location: ir.Location) -> int:
        """The number under which the family at ``location`` reads and writes."""
        self._locations.append(location)
        return len(self._locations) - 1

    def read(self, family: int, held: Held, positions: np.ndarray[Any, Any]) -> None:
        if self._alone:
            return
        writers = self._of(self._writers, held)
        self._refuse_others(family, held, positions, writers, "reads", "writes")
        readers = self._of(self._readers, held)
        before = readers[positions]
        readers[positions] = np.where((before == _NOBODY) | (before == family), family, _SEVERAL)

    def write(self, family: int, held: Held, positions: np.ndarray[Any, Any]) -> None:
        if self._alone:
            return
        self._refuse_others(family, held, positions, self._of(self._writers, held), "writes", "writes")
        self._refuse_others(family, held, positions, self._of(self._readers, held), "writes", "reads")
        self._of(self._writers, held)[positions] = family

    @staticmethod
    def _of(table: dict[tuple[int, Allocation], np.ndarray[Any, Any]], held: Held) -> np.ndarray[Any, Any]:
        key = (held.tile, held.allocation)
        if key not in table:
            table[key] = np.full(held.elements.shape, _NOBODY, np.int32)
        return table[key]

    def _refuse_others(
        self,
        family: int,
        held: Held,
        positions: np.ndarray[Any, Any],
        table: np.ndarray[Any, Any],
        mine: str,
        theirs: str,
    ) -> None:
        others = (table[positions] != _NOBODY) & (table[positions] != family)
        if others.any():
            position = positions[others].flat[0]
            number = int(table[position])
            place = "another vertex" if number == _SEVERAL else f"the vertex at {place_of(self._locations[number])}"
            raise RaceError(
                f"{place_of(self._locations[family])}: a vertex {mine} element {int(held.elements[position])} of "
                f"{held.allocation.name} on tile {held.tile}, which {place} {theirs} in the same compute set; "
                "put them into two compute sets"
            )
