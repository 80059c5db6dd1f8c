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
