"""Mapping: which tile holds which elements of one allocation."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MappingLoop:
    """Part ``p`` of the loop holds ``stride * i`` for ``i`` in ``block * p .. min(extent, block * (p + 1)) - 1``."""

    block: int
    extent: int
    stride: int
    tile_step: int


@dataclass(frozen=True)
class Mapping:
    """Elements of an allocation by their row-major index, spread over tiles.

    Part ``(p_0, p_1, ...)`` lies on tile ``first_tile + sum(tile_step_l * p_l)`` and holds the elements
    ``{offset + sum(stride_l * i_l)}``, ``i_l`` in block ``p_l`` of loop ``l``.
    """

    elements: int
    loops: tuple[MappingLoop, ...] = ()
    offset: int = 0
    first_tile: int = 0
