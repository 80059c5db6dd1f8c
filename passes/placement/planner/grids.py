"""Grids: the ways to cut the loops of an operation into blocks that a planner compares."""

from collections.abc import Iterator, Sequence
from math import lcm

import numpy as np

from ipu_mlir.dialects.machine.size_arithmetic import product_over
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts

_MOST_GRIDS = 20_000  # what is compared at once: arrays of this length still fit the cache
_RATIOS = {1: 1.1, 2: 1.1, 3: 1.25, 4: 1.5, 5: 1.6}
_RATIO = 2.0  # of neighbouring numbers of parts, by how many loops may be cut


def coarse_grids(
    extents: Sequence[int], cuttable: Sequence[int], grains: Sequence[int], multiples: Sequence[int], num_tiles: int
) -> IntArray:
    """Blocks of every loop, shape ``(grids, loops)``, in at most ``num_tiles`` parts; far apart, for a first look.

    Args:
        extents: iterations per loop.
        cuttable: the loops that may be cut.
        grains: per loop, what a block is a multiple of.
        multiples: per loop, what it is good for a block to be a multiple of; offered besides.

    >>> coarse_grids((8, 3), cuttable=(0,), grains=(2, 1), multiples=(1, 1), num_tiles=3).tolist()
    [[8, 3], [4, 3]]
    """
    ratio = _RATIOS.get(sum(extents[loop] > 1 for loop in cuttable), _RATIO)
    blocks = np.array([extents], dtype=np.int64)
    for loop in cuttable:
        counts = _numbers_of_parts(-(-extents[loop] // grains[loop]), num_tiles, ratio)
        blocks = _with_choices(blocks, loop, _blocks(extents[loop], counts, grains[loop], multiples[loop]))
        blocks = _on_tiles(blocks, extents, num_tiles)
        if len(blocks) > _MOST_GRIDS:  # the ones that use most tiles are the ones that end best
            blocks = blocks[np.argsort(-_num_parts(blocks, extents), kind="stable")[:_MOST_GRIDS]]
    return blocks


def grids_near(
    grids: IntArray,
    extents: Sequence[int],
    cuttable: Sequence[int],
    grains: Sequence[int],
    multiples: Sequence[int],
    num_tiles: int,
) -> IntArray:
    """``grids`` and those with one loop cut a little finer or coarser, shape ``(more, loops)``."""
    rows: list[tuple[int, int, int]] = []  # number of the grid, loop, its block
    for number, (grid, used) in enumerate(zip(grids.tolist(), _num_parts(grids, extents).tolist(), strict=True)):
        for loop in cuttable:
            count = -(-extents[loop] // grid[loop])
            most = min(-(-extents[loop] // grains[loop]), num_tiles // (used // count))
            low, high = max(1, int(count / 1.5)), min(most, int(count * 1.5) + 1)
            step = max(1, (high - low) // 16)
            choices = _blocks(extents[loop], [*range(low, high + 1, step), max(1, most)], grains[loop], multiples[loop])
            rows += [(number, loop, block) for block in choices]
    changes = np.array(rows, dtype=np.int64).reshape(-1, 3)
    more = grids[changes[:, 0]]
    more[np.arange(len(more)), changes[:, 1]] = changes[:, 2]
    return _distinct(_on_tiles(np.concatenate((grids, more)), extents, num_tiles))


def parts_of_grid(blocks: Sequence[int], extents: Sequence[int], fastest: int | None = None) -> Parts:
    """Parts numbered row by row; neighbours differ in the loop ``fastest``, the last one by default.

    >>> parts_of_grid((4, 2), (8, 6)).loops
    (PartLoop(block=4, extent=8, tile_step=3), PartLoop(block=2, extent=6, tile_step=1))
    """
    loops = [PartLoop(int(block), extent, 0) for block, extent in zip(blocks, extents, strict=True)]
    order = sorted(range(len(loops)), key=lambda loop: (loop == fastest, loop))
    step = 1
    for loop in reversed(order):
        count = -(-extents[loop] // loops[loop].block)
        if count > 1:
            loops[loop] = PartLoop(loops[loop].block, extents[loop], step)
        step *= count
    return Parts(tuple(loops))


def parts_on_each_ipu(
    blocks: Sequence[int], extents: Sequence[int], shared: int, fastest: int, grain: int, target: Target
) -> Iterator[Parts]:
    """Parts of which each IPU of ``target`` has an equal share of the loop ``shared``, cut into ``blocks`` there.

    A block of that loop takes so many tiles that those of an IPU fill it; it is cut into as many, and into a power of
    two, so that ops that differ in other loops have equal shares.

    >>> each = parts_on_each_ipu((2, 4), (8, 8), 0, 1, 1, Target(ipus=2, tiles_per_ipu=6))
    >>> [parts.loops[0] for parts in each]
    [PartLoop(block=2, extent=8, tile_step=2), PartLoop(block=2, extent=8, tile_step=3)]
    """
    inside = [extent if loop == shared else blocks[loop] for loop, extent in enumerate(extents)]
    inner = parts_of_grid(inside, extents, fastest)
    tiles = target.num_compute_tiles // target.ipus
    fitting = [count for count in range(1, tiles // inner.num_parts + 1) if target.tiles_per_ipu % count == 0]
    powers = [count for count in fitting if count & (count - 1) == 0]
    for count in dict.fromkeys((*fitting[-1:], *powers[-1:])):
        block = -(-extents[shared] // (target.ipus * count * grain)) * grain
        loops = list(inner.loops)
        loops[shared] = PartLoop(block, extents[shared], target.tiles_per_ipu // count)
        yield Parts(tuple(loops))


def _numbers_of_parts(most: int, num_tiles: int, ratio: float) -> list[int]:
    most = max(1, min(most, num_tiles))
    counts, exact = [1], 1.0
    while counts[-1] < most:
        exact = max(exact * ratio, counts[-1] + 1)
        counts.append(min(int(exact), most))
    return counts


def _blocks(extent: int, counts: Sequence[int], grain: int, multiple: int) -> list[int]:
    """A block for each number of parts, of whole grains, and one that is a multiple of what is good."""
    sizes = [-(-extent // count) for count in counts]
    units = (grain, lcm(multiple, grain)) if multiple > 1 else (grain,)
    return list(dict.fromkeys(min(extent, -(-size // unit) * unit) for size in sizes for unit in units))


def _with_choices(blocks: IntArray, loop: int, choices: Sequence[int]) -> IntArray:
    """Every row once per choice for ``loop``."""
    more = np.repeat(blocks, len(choices), axis=0)
    more[:, loop] = np.tile(np.array(choices, dtype=np.int64), len(blocks))
    return more


def _on_tiles(blocks: IntArray, extents: Sequence[int], num_tiles: int) -> IntArray:
    return blocks[_num_parts(blocks, extents) <= num_tiles]


def _num_parts(blocks: IntArray, extents: Sequence[int]) -> IntArray:
    return product_over(-(-np.array(extents, dtype=np.int64) // blocks), range(len(extents)))


def _distinct(rows: IntArray) -> IntArray:
    """The different rows in rising order, as ``numpy.unique`` gives them in six times the time."""
    if not rows.size:
        return rows[:1]
    rows = rows[np.lexsort(rows.T[::-1])]
    is_new = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[np.concatenate(([True], is_new))]
