"""Parts: how the loops of one operation are cut into vertices."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PartLoop:
    """One loop of an operation, cut into blocks.

    Part ``p`` of the loop runs iterations ``block * p .. min(extent, block * (p + 1)) - 1`` and adds
    ``tile_step * p`` to the tile.
    """

    block: int
    extent: int
    tile_step: int


@dataclass(frozen=True)
class Parts:
    """A family of vertices: one part per combination of blocks, each on a tile of its own.

    >>> Parts((PartLoop(8, 20, 1), PartLoop(16, 16, 0)), first_tile=4).num_parts
    3
    """

    loops: tuple[PartLoop, ...]
    first_tile: int = 0

    @property
    def num_parts(self) -> int:
        count = 1
        for loop in self.loops:
            count *= -(-loop.extent // loop.block)
        return count
