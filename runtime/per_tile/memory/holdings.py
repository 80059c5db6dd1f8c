"""Who holds what and who runs what, enumerated part by part straight from the definitions.

Nothing here uses the closed-form queries of ``dialects/mapping``: this is what they are held against.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.errors import RunError

Elements = np.ndarray[Any, np.dtype[np.int64]]
Box = tuple[range, ...]


@lru_cache(maxsize=128)
def held_elements(mapping: Mapping) -> dict[int, Elements]:
    """Per tile that holds any, the sorted elements of the allocation that ``mapping`` puts there.

    Raises:
        RunError: a part is outside the allocation or on a negative tile, or two parts are on one tile.

    >>> from ipu_mlir.dialects.mapping.mapping import MappingLoop
    >>> {tile: held.tolist() for tile, held in held_elements(Mapping(5, (MappingLoop(2, 5, 1, 1),))).items()}
    {0: [0, 1], 1: [2, 3], 2: [4]}
    """
    held: dict[int, Elements] = {}
    for tile, box in _parts([(x.block, x.extent, x.tile_step) for x in mapping.loops], mapping.first_tile):
        elements = np.array([mapping.offset])
        for loop, block in zip(mapping.loops, box, strict=True):
            if loop.stride:
                elements = np.add.outer(elements, loop.stride * np.arange(block.start, block.stop)).ravel()
        elements = np.unique(elements)
        if elements.size and (elements[0] < 0 or elements[-1] >= mapping.elements):
            raise RunError(
                f"{mapping} puts elements {elements[0]} to {elements[-1]} on tile {tile}, "
                f"but its allocation has elements 0 to {mapping.elements - 1}"
            )
        if tile in held:
            raise RunError(f"{mapping} puts two parts on tile {tile}; a tile holds at most one part")
        elements.setflags(write=False)
        held[tile] = elements
    return held


def vertex_boxes(parts: Parts) -> Iterator[tuple[int, Box]]:
    """Tile and box of global loop indices of every vertex of a family.

    Raises:
        RunError: two vertices are on one tile, or one is on a negative tile.
    """
    seen: set[int] = set()
    for tile, box in _parts([(x.block, x.extent, x.tile_step) for x in parts.loops], parts.first_tile):
        if tile in seen:
            raise RunError(f"{parts} puts two vertices on tile {tile}; a tile runs at most one vertex of a family")
        seen.add(tile)
        yield tile, box


def _parts(loops: list[tuple[int, int, int]], first_tile: int) -> Iterator[tuple[int, Box]]:
    """Tile and box of every part, for loops of (block, extent, tile_step)."""
    for numbers in product(*(range(-(-extent // block)) for block, extent, _ in loops)):
        tile = first_tile + sum(step * number for (_, _, step), number in zip(loops, numbers, strict=True))
        if tile < 0:
            raise RunError(f"part {numbers} lies on tile {tile}; tiles count from 0")
        box = tuple(
            range(block * number, min(extent, block * (number + 1)))
            for (block, extent, _), number in zip(loops, numbers, strict=True)
        )
        yield tile, box
