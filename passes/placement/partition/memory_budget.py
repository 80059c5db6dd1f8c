"""The memory that what always lives leaves on the fullest tile."""

import numpy as np

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.mapping import Mapping

_RESERVED = 16  # of a tile, one part in so many is for code and for what lives between ops
_STEPS = 128  # parts of a tile in which the rest is counted: equal layers are planned alike until one tile is full


class MemoryBudget:
    """The memory of all tiles, from which arguments and constants take theirs.

    >>> from ipu_mlir.dialects.mapping.build import one_tile
    >>> budget = MemoryBudget(Target(tiles_per_ipu=4, bytes_per_tile=1600))
    >>> budget.bytes_left(range(4)), budget.take(one_tile(100), element_size=4), budget.bytes_left(range(4))
    (996, None, 732)
    """

    def __init__(self, target: Target) -> None:
        self._taken = np.zeros(target.num_tiles, dtype=np.int64)
        self._tile = target.bytes_per_tile

    def take(self, home: Mapping, element_size: int) -> None:
        """An allocation lies at ``home`` for as long as the program runs."""
        tiles, elements = home.elements_per_tile()
        on_target = tiles < len(self._taken)  # what lies beyond is refused elsewhere
        self._taken[tiles[on_target]] += elements[on_target] * element_size

    def bytes_left(self, tiles: range) -> int:
        """On the fullest of ``tiles``, for operands that are brought and for partial results; there is always a little.

        A third is for the messages that exchanges gather and spread. Where a tile is too full already, which is refused
        later, ops are planned as if it were empty: then it is seen what does not fit.
        """
        reserved, taken = self._tile // _RESERVED, int(self._taken[tiles.start : tiles.stop].max(initial=0))
        if taken > self._tile:
            return self._tile
        left = max(2 * (self._tile - reserved - taken) // 3, reserved)
        return left - left % max(1, self._tile // _STEPS)
