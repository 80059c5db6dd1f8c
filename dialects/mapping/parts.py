"""Parts: how the loops of one operation are cut into vertices."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ipu_mlir.dialects.mapping.loops import IntArray, MappingLoop
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.on_tiles import OnTiles


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
class Parts(OnTiles):
    """A family of vertices: one part per combination of blocks, each on a tile of its own.

    Parts are numbered in row-major order of ``parts_per_loop``.

    >>> parts = Parts((PartLoop(8, 20, 1), PartLoop(16, 16, 0)), first_tile=4)
    >>> parts.num_parts
    3
    >>> parts.image(strides=(16, 1), offset=0, elements=320)
    Mapping(elements=320, loops=(MappingLoop(block=128, extent=320, stride=1, tile_step=1),), offset=0, first_tile=4)
    """

    loops: tuple[PartLoop, ...]
    first_tile: int = 0

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: much of what is asked about an op is remembered by its parts."""
        return hash((self.loops, self.first_tile))

    def covers(self, extents: Sequence[int]) -> bool:
        """True if the parts cut exactly the loops of these extents."""
        return self.is_well_formed() and tuple(loop.extent for loop in self.loops) == tuple(extents)

    def image(self, strides: Sequence[int], offset: int, elements: int) -> Mapping:
        """The elements that each part touches of an allocation of ``elements``, as a normalized mapping.

        The access is to element ``offset + sum(strides[l] * i_l)`` for iteration ``i`` of the loops.
        """
        return _image(self, tuple(strides), offset, elements)

    def bounds(self) -> tuple[IntArray, IntArray]:
        """First and end of the iterations of each part in each loop, both of shape ``(num_parts, len(loops))``."""
        index = np.indices(self.parts_per_loop).reshape(len(self.loops), self.num_parts).T
        blocks = np.array([loop.block for loop in self.loops], dtype=np.int64)
        extents = np.array([loop.extent for loop in self.loops], dtype=np.int64)
        return index * blocks, np.minimum((index + 1) * blocks, extents)

    def box(self, part: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """First and end of the iterations of part ``(p_0, p_1, ...)`` in each loop."""
        pairs = list(zip(self.loops, part, strict=True))
        starts = tuple(loop.block * p for loop, p in pairs)
        return starts, tuple(min(loop.extent, loop.block * (p + 1)) for loop, p in pairs)


@lru_cache(maxsize=1024)
def _image(parts: Parts, strides: tuple[int, ...], offset: int, elements: int) -> Mapping:
    pairs = zip(parts.loops, strides, strict=True)
    nest = tuple(MappingLoop(loop.block, loop.extent, stride, loop.tile_step) for loop, stride in pairs)
    return Mapping(elements, nest, offset, parts.first_tile).normalized()
