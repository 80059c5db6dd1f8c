"""The common parts of loops of mappings and of parts: blocks, parts, and the tile of each part."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ipu_mlir.dialects.support.errors import CompileError

IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[Any]


class BlockedLoop(Protocol):
    """A loop of ``extent`` iterations cut into blocks; each block further on adds ``tile_step`` to the tile."""

    @property
    def block(self) -> int: ...
    @property
    def extent(self) -> int: ...
    @property
    def tile_step(self) -> int: ...


@dataclass(frozen=True)
class MappingLoop:
    """Part ``p`` of the loop holds ``stride * i`` for ``i`` in ``block * p .. min(extent, block * (p + 1)) - 1``."""

    block: int
    extent: int
    stride: int
    tile_step: int


def ceil_div(a: int, b: int) -> int:
    """``a / b`` rounded up."""
    return -(-a // b)


def parts_of_loop(loop: BlockedLoop) -> int:
    """Into how many blocks the loop is cut."""
    return ceil_div(loop.extent, loop.block)


MOST_PARTS = 1 << 26
"""Of a mapping, or of an op: whoever looks at each of them has arrays with an entry for each."""
MOST_REACH = 1 << 60
"""Sums of so much stay within 64 bits."""


def refuse_too_large(loops: Sequence[BlockedLoop], reach: int) -> None:
    """Refuse parts that arrays of 64-bit numbers cannot hold; ``reach`` is the furthest element that they name.

    Raises:
        CompileError: its message is the end of a sentence about an op.
    """
    parts = prod(parts_of_loop(loop) for loop in loops)
    if parts > MOST_PARTS:
        raise CompileError(f"has a mapping or parts with {parts:,} parts, of at most {MOST_PARTS:,}; use larger blocks")
    tiles = sum(abs(loop.tile_step) * parts_of_loop(loop) for loop in loops)
    if (furthest := max(reach, tiles, *(loop.block for loop in loops), 0)) > MOST_REACH:
        raise CompileError(f"has a mapping or parts that reach {furthest:,} elements or tiles far, of {MOST_REACH:,}")


def part_tiles(loops: Sequence[BlockedLoop], first_tile: int) -> IntArray:
    """The tile of each part, parts in row-major order; shape ``(num_parts,)``."""
    refuse_too_large(loops, abs(first_tile))
    tiles = np.array([first_tile], dtype=np.int64)
    for loop in loops:
        tiles = (tiles[:, None] + loop.tile_step * np.arange(parts_of_loop(loop))).reshape(-1)
    return tiles


def tile_bounds(loops: Sequence[BlockedLoop], first_tile: int) -> tuple[int, int]:
    """The lowest and the highest tile that a part lies on."""
    reach = [loop.tile_step * (parts_of_loop(loop) - 1) for loop in loops]
    return first_tile + sum(min(0, x) for x in reach), first_tile + sum(max(0, x) for x in reach)


def tiles_are_distinct(loops: Sequence[BlockedLoop], first_tile: int) -> bool:
    """True if no two parts lie on one tile."""
    split = sorted((abs(x.tile_step), parts_of_loop(x)) for x in loops if parts_of_loop(x) != 1)
    if any(parts == 0 for _, parts in split):
        return True
    span = 0
    for step, parts in split:
        if step <= span:
            break
        span += step * (parts - 1)
    else:
        return True
    low, high = tile_bounds(loops, first_tile)
    num_parts = int(np.prod([parts for _, parts in split]))
    if num_parts > high - low + 1:
        return False
    return int(np.bincount(part_tiles(loops, first_tile) - low).max()) == 1


def is_well_formed(loops: Sequence[BlockedLoop]) -> bool:
    """True if every block has at least one iteration and no extent is negative; all other questions ask for this."""
    return all(loop.block >= 1 and loop.extent >= 0 for loop in loops)
