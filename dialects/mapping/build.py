"""The usual mappings: on one tile, in a line, by rows, in blocks. Each is a home."""

from collections.abc import Sequence
from math import prod

from ipu_mlir.dialects.mapping.loops import MappingLoop, ceil_div
from ipu_mlir.dialects.mapping.mapping import Mapping


def one_tile(elements: int, tile: int = 0) -> Mapping:
    """Everything on one tile.

    >>> one_tile(6, tile=3).elements_on(3).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    return Mapping(elements, (MappingLoop(max(1, elements), elements, 1, 0),), 0, tile).normalized()


def linear(elements: int, num_tiles: int, grain: int = 1, first_tile: int = 0) -> Mapping:
    """Consecutive elements in equal blocks of whole grains; as small as ``num_tiles`` tiles allow, the last one ragged.

    >>> linear(10, num_tiles=4).elements_per_tile()[1].tolist()
    [3, 3, 3, 1]
    >>> linear(10, num_tiles=4, grain=4).elements_per_tile()[1].tolist()
    [4, 4, 2]
    """
    block = max(1, grain * ceil_div(ceil_div(elements, grain), num_tiles))
    return Mapping(elements, (MappingLoop(block, elements, 1, 1),), 0, first_tile).normalized()


def by_rows(shape: Sequence[int], num_tiles: int, grain: int = 1, first_tile: int = 0) -> Mapping:
    """Whole rows (of the first dimension), ``grain`` at a time, in equal blocks over at most ``num_tiles`` tiles.

    >>> by_rows((5, 3), num_tiles=2).elements_per_tile()[1].tolist()
    [9, 6]
    """
    elements = prod(shape)
    row = elements // shape[0] if shape and shape[0] else 1
    return linear(elements, num_tiles, grain * max(1, row), first_tile)


def blocks(
    shape: Sequence[int], block: Sequence[int], tile_steps: Sequence[int] | None = None, first_tile: int = 0
) -> Mapping:
    """Blocks of the shape ``block`` of a tensor of ``shape``; the last ones of each dimension may be smaller.

    Block ``(p_0, p_1, ...)`` lies on tile ``first_tile + sum(tile_steps[d] * p_d)``, in row-major order by default.

    >>> blocks((4, 6), block=(2, 4)).elements_per_tile()[1].tolist()
    [8, 4, 8, 4]
    """
    parts = [ceil_div(n, b) for n, b in zip(shape, block, strict=True)]
    steps = [prod(parts[d + 1 :]) for d in range(len(parts))] if tile_steps is None else tile_steps
    strides = [prod(shape[d + 1 :]) for d in range(len(parts))]
    loops = (MappingLoop(*loop) for loop in zip(block, shape, strides, steps, strict=True))
    return Mapping(prod(shape), tuple(loops), 0, first_tile).normalized()
