"""A number for every tile, in runs: short for any number of tiles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ipu_mlir.dialects.mapping.loops import IntArray


@dataclass(frozen=True, eq=False)
class PerTile:
    """A number for each of ``num_tiles`` tiles: ``values[i]`` from tile ``starts[i]`` up to the next start.

    >>> bytes_held = PerTile.at(np.array([1, 2, 4]), np.array([8, 8, 4]), num_tiles=6)
    >>> bytes_held.runs()
    [(0, 1), (8, 2), (0, 1), (4, 1), (0, 1)]
    >>> bytes_held.total(), bytes_held.largest(), bytes_held.worst_tile()
    (20, 8, 1)
    """

    starts: IntArray
    values: IntArray
    num_tiles: int

    @staticmethod
    def uniform(value: int, num_tiles: int) -> "PerTile":
        """``value`` on every tile."""
        return PerTile(np.zeros(1, np.int64), np.array([value], np.int64), num_tiles)

    @staticmethod
    def at(tiles: IntArray, values: IntArray | int, num_tiles: int) -> "PerTile":
        """``values`` on these tiles, which are all different, and 0 elsewhere."""
        dense = np.zeros(num_tiles, np.int64)
        dense[tiles] = values
        return PerTile.of(dense)

    @staticmethod
    def of(dense: IntArray) -> "PerTile":
        """From one number per tile."""
        starts = np.concatenate(([0], np.flatnonzero(dense[1:] != dense[:-1]) + 1))
        return PerTile(starts, dense[starts], len(dense))

    def shortened(self) -> "PerTile":
        """The same numbers in as few runs as possible."""
        kept = np.concatenate(([True], self.values[1:] != self.values[:-1]))
        return PerTile(self.starts[kept], self.values[kept], self.num_tiles)

    def dense(self) -> IntArray:
        """One number per tile, shape ``(num_tiles,)``."""
        return np.repeat(self.values, self.lengths())

    def lengths(self) -> IntArray:
        """The number of tiles of each run."""
        return np.diff(self.starts, append=self.num_tiles)

    def runs(self) -> list[tuple[int, int]]:
        """Values and how many tiles each of them is on."""
        return list(zip(self.values.tolist(), self.lengths().tolist(), strict=True))

    def from_tiles(self, starts: IntArray) -> IntArray:
        """The numbers of these tiles."""
        return self.values[np.searchsorted(self.starts, starts, side="right") - 1]

    def on(self, tile: int) -> int:
        """The number of one tile."""
        return int(self.from_tiles(np.array([tile]))[0])

    def total(self) -> int:
        """The sum over all tiles."""
        return int(self.values @ self.lengths())

    def largest(self) -> int:
        return int(self.values.max())

    def worst_tile(self) -> int:
        """The lowest tile that has the largest number."""
        return int(self.starts[self.values.argmax()])

    def count_over(self, limit: int) -> int:
        """On how many tiles the number is larger than ``limit``."""
        return int(self.lengths()[self.values > limit].sum())


def common_starts(many: Sequence[PerTile]) -> IntArray:
    """The tiles at which any of ``many`` begins a run: between them all are constant."""
    return np.unique(np.concatenate([np.zeros(1, np.int64), *(each.starts for each in many)]))


def total_of(many: Sequence[PerTile], num_tiles: int) -> PerTile:
    """The sum of ``many`` on every tile; 0 of nothing.

    >>> total_of([PerTile.uniform(2, 3), PerTile.at(np.array([2]), 5, 3)], 3).runs()
    [(2, 2), (7, 1)]
    """
    if not many:
        return PerTile.uniform(0, num_tiles)
    steps = np.concatenate([np.diff(each.values, prepend=0) for each in many])
    starts, place = np.unique(np.concatenate([each.starts for each in many]), return_inverse=True)
    sums = np.zeros(len(starts), np.int64)
    np.add.at(sums, place, steps)
    return PerTile(starts, np.cumsum(sums), num_tiles).shortened()
