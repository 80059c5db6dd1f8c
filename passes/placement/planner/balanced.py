"""The first planner: parts of equal size, close to where the operands lie."""

from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from ipu_mlir.dialects.analysis.index import loop_strides
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.passes.placement.planner.follow import parts_that_follow
from ipu_mlir.passes.placement.planner.operation import OperandUse, Operation

_BEAM = 256  # partial grids kept from loop to loop: enough that wider ones found nothing better on the corpus


@dataclass(frozen=True)
class Balanced:
    """Cut loops into equal blocks, so that the largest part does least.

    An element-wise op runs where its largest operand lies. Another op runs on the best grid over all tiles, or on the
    cuts of an operand that lies somewhere, if less has to move then. What is done does not depend on how many tiles
    there are, only where: the size of the program stays the same.

    Attributes:
        grain_bytes: the fastest dimension of a result is cut at multiples of this many bytes, because a tile writes
            whole 64-bit words.
    """

    grain_bytes: int = 8

    def __call__(self, operation: Operation, target: Target) -> Parts:
        """The parts of ``operation`` on ``target``."""
        followed = [
            (use, parts)
            for use in operation.inputs
            if use.lies_on(target) and (parts := _followed(operation, use)) is not None
        ]
        if all(operation.parallel):
            whole = [parts for use, parts in followed if prod(use.shape) >= prod(operation.extents)]
            return min(whole, key=lambda parts: cost(operation, parts)) if whole else self._grid(operation, target)
        candidates = [self._grid(operation, target), *(parts for _, parts in followed)]
        return min(candidates, key=lambda parts: cost(operation, parts))

    def _grid(self, operation: Operation, target: Target) -> Parts:
        reads = () if all(operation.parallel) else _reads(operation)
        grains = result_grains(operation, self.grain_bytes)
        return best_grid(operation.extents, operation.cuttable, reads, grains, target.num_compute_tiles)


def result_grains(operation: Operation, grain_bytes: int) -> tuple[int, ...]:
    """Per loop, the multiple at which it is cut: the grain for those that run along a result's memory."""
    grains = [1] * len(operation.extents)
    for use in operation.outputs:
        strides, _, _ = loop_strides(use.indices, use.strides, len(operation.extents))
        for loop, stride in enumerate(strides):
            if stride == 1:
                grains[loop] = max(grains[loop], grain_bytes // use.element_bytes)
    return tuple(grains)


def _followed(operation: Operation, use: OperandUse) -> Parts | None:
    """Parts that find an operand where it lies, if there are any."""
    if use.home is None or use.home.elements <= 1:
        return None
    strides, _, whole = loop_strides(use.indices, use.strides, len(operation.extents))
    return None if whole else parts_that_follow(use.home, operation.extents, strides, operation.cuttable)


def cost(operation: Operation, parts: Parts) -> int:
    """Iterations of the largest part plus twice the elements that move to its tile.

    Twice, because what moved once usually has to move back.
    """
    blocks = tuple(loop.block for loop in parts.loops)
    moved = 0
    for use in operation.inputs:
        if use.home is None or not use.home.contains(use.needed(parts)):
            moved += prod(min(_span(use, blocks, dimension), size) for dimension, size in enumerate(use.shape))
    return prod(blocks) + 2 * moved


def _span(use: OperandUse, blocks: tuple[int, ...], dimension: int) -> int:
    """The number of elements that one part reaches over in a dimension of an operand."""
    index = use.indices[dimension]
    if not index.linear:
        return use.shape[dimension]
    return 1 + sum(abs(c) * (block - 1) for c, block in zip(index.coefficients, blocks, strict=True))


def _reads(operation: Operation) -> tuple[tuple[int, ...], ...]:
    """Per input, the loops that its elements depend on."""
    loops = range(len(operation.extents))
    return tuple(
        tuple(loop for loop in loops if any(index.coefficients[loop] for index in use.indices))
        for use in operation.inputs
    )


@lru_cache(maxsize=1024)
def best_grid(
    extents: tuple[int, ...],
    cuttable: tuple[int, ...],
    reads: tuple[tuple[int, ...], ...],
    grains: tuple[int, ...],
    num_tiles: int,
) -> Parts:
    """The grid of blocks over at most ``num_tiles`` tiles whose largest part does and reads least.

    Loops are added one by one; after each, the partial grids that can still end best are kept. With ``reads``, every
    loop is cut if there are tiles for that: blocks of a product that are far from square read too much, and a few
    tiles are cut the same way as many.

    >>> best_grid((128, 64), (0, 1), ((0, 1),), (1, 2), num_tiles=16).loops
    (PartLoop(block=16, extent=128, tile_step=2), PartLoop(block=32, extent=64, tile_step=1))
    """
    blocks = np.array([extents], dtype=np.int64)
    divisible = [loop for loop in cuttable if extents[loop] > grains[loop]]
    cut_all = bool(reads) and 2 ** len(divisible) <= num_tiles
    for position, loop in enumerate(cuttable):
        choices = _block_sizes(extents[loop], grains[loop], num_tiles)
        if cut_all and loop in divisible:
            choices = choices[1:]
        waiting = sum(later in divisible for later in cuttable[position + 1 :]) if cut_all else 0
        most_parts = num_tiles // 2**waiting  # for each loop that is still to be cut has two at least
        blocks = np.repeat(blocks, len(choices), axis=0)
        blocks[:, loop] = np.tile(choices, len(blocks) // len(choices))
        counts = np.prod(-(-np.array(extents, dtype=np.int64) // blocks), axis=1)
        blocks, counts = blocks[counts <= most_parts], counts[counts <= most_parts]
        work = np.prod(blocks, axis=1)
        remaining = prod(extents[later] for later in cuttable[position + 1 :])
        bound = work / np.minimum(num_tiles // counts, remaining) + _elements_read(blocks, reads)
        blocks = blocks[np.lexsort((-blocks[:, loop], counts, bound))[:_BEAM]]  # at equal cost, long runs in memory
    order = _tile_order(extents, cuttable, blocks[0])
    return Parts(
        tuple(PartLoop(int(b), e, order[loop]) for loop, (b, e) in enumerate(zip(blocks[0], extents, strict=True)))
    )


def _elements_read(blocks: np.ndarray, reads: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Elements of all inputs that the largest part reads, per grid; a window counts as its loops' product."""
    total = np.zeros(len(blocks), dtype=np.int64)
    for loops in reads:
        total += np.prod(blocks[:, list(loops)], axis=1)
    return total


@lru_cache(maxsize=1024)
def _block_sizes(extent: int, grain: int, num_tiles: int) -> tuple[int, ...]:
    """The block sizes worth trying, falling: the smallest for each number of parts, whole grains each.

    >>> _block_sizes(10, 2, 4)
    (10, 6, 4)
    """
    grains = -(-extent // grain)
    sizes = []
    parts = 1
    while parts <= min(grains, num_tiles):
        sizes.append(-(-grains // parts))
        if sizes[-1] == 1:
            break
        parts = -(-grains // (sizes[-1] - 1))  # the next number of parts with a smaller block
    return tuple(min(size * grain, extent) for size in sizes)


def _tile_order(extents: tuple[int, ...], cuttable: tuple[int, ...], blocks: np.ndarray) -> dict[int, int]:
    """Tile steps that number the parts row by row, the last loop fastest; 0 for loops that are not cut."""
    steps = dict.fromkeys(range(len(extents)), 0)
    step = 1
    for loop in reversed(cuttable):
        count = -(-extents[loop] // int(blocks[loop]))
        if count > 1:
            steps[loop] = step
            step *= count
    return steps
