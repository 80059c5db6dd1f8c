"""The common parts of mappings and parts: loops that are cut into blocks, each block on a tile."""

from functools import cached_property
from math import prod
from typing import Any

from ipu_mlir.dialects.mapping import loops as arithmetic
from ipu_mlir.dialects.mapping.loops import IntArray, parts_of_loop


class OnTiles:
    """A family of parts on tiles; a base for frozen dataclasses with ``loops`` and ``first_tile``."""

    loops: Any
    first_tile: int

    @property
    def parts_per_loop(self) -> tuple[int, ...]:
        """Into how many blocks each loop is cut."""
        return tuple(parts_of_loop(loop) for loop in self.loops)

    @property
    def num_parts(self) -> int:
        """The number of parts: one for each combination of blocks."""
        return prod(self.parts_per_loop)

    def tiles(self) -> IntArray:
        """The tile of each part, parts in row-major order of ``parts_per_loop``; shape ``(num_parts,)``."""
        return arithmetic.part_tiles(self.loops, self.first_tile)

    @property
    def min_tile(self) -> int:
        """The lowest tile that a part lies on."""
        return self._tile_bounds[0]

    @property
    def max_tile(self) -> int:
        """The highest tile that a part lies on."""
        return self._tile_bounds[1]

    @cached_property
    def _tile_bounds(self) -> tuple[int, int]:
        return arithmetic.tile_bounds(self.loops, self.first_tile)

    def tiles_are_distinct(self) -> bool:
        """True if no two parts lie on one tile."""
        return self._are_distinct

    @cached_property
    def _are_distinct(self) -> bool:
        return arithmetic.tiles_are_distinct(self.loops, self.first_tile)

    def is_well_formed(self) -> bool:
        """True if blocks are at least 1 and extents not negative; every other query takes it for granted."""
        return arithmetic.is_well_formed(self.loops)
