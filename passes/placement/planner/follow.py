"""Parts that run where an operand lies already."""

from collections.abc import Sequence

from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts


def parts_that_follow(
    mapping: Mapping, extents: Sequence[int], strides: Sequence[int], cuttable: Sequence[int]
) -> Parts | None:
    """Cut loops so that every part finds its piece of an operand where ``mapping`` puts it.

    Args:
        mapping: where the operand's allocation lies.
        extents: iterations per loop of the op.
        strides: elements of the allocation from iteration to iteration, per loop.
        cuttable: the loops that may be cut.

    Returns:
        None where the cuts of ``mapping`` are no cuts of these loops.

    >>> rows = Mapping(24, (MappingLoop(2, 6, 4, 1), MappingLoop(4, 4, 1, 0)))
    >>> parts_that_follow(rows, extents=(6, 4), strides=(4, 1), cuttable=(0, 1)).loops[0]
    PartLoop(block=2, extent=6, tile_step=1)
    """
    loops = [PartLoop(extent, extent, 0) for extent in extents]
    for cut in mapping.normalized().loops:
        if cut.block >= cut.extent:
            continue
        if cut.stride == 0 or not _cut(loops, cut, extents, strides, cuttable):
            return None
    return Parts(tuple(loops), mapping.first_tile)


def parts_near(
    mapping: Mapping, extents: Sequence[int], strides: Sequence[int], cuttable: Sequence[int], offset: int
) -> Parts | None:
    """Cut loops that run over part of an operand so that every part finds the most of its piece where it lies.

    As ``parts_that_follow``, of loops that begin at element ``offset`` of the allocation: their blocks are as large as
    those of ``mapping``, and need not begin where one of those does.

    >>> rows = Mapping(24, (MappingLoop(2, 6, 4, 1), MappingLoop(4, 4, 1, 0)))
    >>> parts_near(rows, extents=(3, 2), strides=(4, 1), cuttable=(0, 1), offset=13)
    Parts(loops=(PartLoop(block=2, extent=3, tile_step=1), PartLoop(block=2, extent=2, tile_step=0)), first_tile=1)
    """
    loops = [PartLoop(extent, extent, 0) for extent in extents]
    first_tile = mapping.first_tile
    for cut in mapping.normalized().loops:
        if cut.block >= cut.extent:
            continue
        found = next((x for x in cuttable if _runs_over_part(cut, x, extents, strides)), None)
        if found is None or loops[found].block < extents[found]:
            return None
        loops[found] = PartLoop(cut.block * cut.stride // strides[found], extents[found], cut.tile_step)
        first_tile += offset // cut.stride % cut.extent // cut.block * cut.tile_step
    return Parts(tuple(loops), first_tile)


def _runs_over_part(cut: MappingLoop, loop: int, extents: Sequence[int], strides: Sequence[int]) -> bool:
    """True if ``loop`` runs over at least one block, but not over all, of a dimension that ``cut`` cuts."""
    if cut.stride <= 0 or strides[loop] <= 0 or strides[loop] % cut.stride:
        return False
    ratio = strides[loop] // cut.stride
    blocks = cut.block % ratio == 0 and cut.extent % ratio == 0
    return blocks and cut.block // ratio < extents[loop] <= cut.extent // ratio


def _cut(
    loops: list[PartLoop], cut: MappingLoop, extents: Sequence[int], strides: Sequence[int], cuttable: Sequence[int]
) -> bool:
    """Carry one cut of a mapping over to the loops that run through its elements, from the fastest to the slowest."""
    stride, extent, block, step = cut.stride, cut.extent, cut.block, cut.tile_step
    while extent > 1:
        loop = next((x for x in cuttable if strides[x] == stride and extents[x] > 1), None)
        if loop is None or extent % extents[loop] or loops[loop].block < extents[loop]:
            return False
        inner = extents[loop]
        if block % inner == 0:  # the inner loop is whole in every part
            block //= inner
        elif inner % block == 0:  # the inner loop is cut, every outer iteration starts a part
            loops[loop] = PartLoop(block, inner, step)
            step *= inner // block
            block = 1
        elif extent == inner:
            loops[loop] = PartLoop(block, inner, step)
            return True
        else:
            return False
        stride *= inner
        extent //= inner
    return True
