"""The operand mapping of an access: which elements of an allocation the parts of an operation touch, on which tile."""

from collections.abc import Sequence
from functools import lru_cache

from ipu_mlir.dialects.analysis.index import Index, loop_strides
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.parts import Parts


def operand_mapping(
    parts: Parts,
    indices: Sequence[Index],
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int,
    elements: int,
) -> Mapping:
    """The elements of an operand that each of ``parts`` reads or writes, as a mapping of the operand's allocation.

    Args:
        parts: one loop per loop of the op.
        indices: the op's index into each dimension of the operand.
        shape, strides, offset: the view of the allocation that the operand is, in elements.
        elements: elements of the allocation.

    A dimension that counts the blocks of a loop, ``d0 floordiv 4``, is cut where the parts cut the loop at multiples of
    the block. Any other dimension whose index is not linear in the loops is needed whole.

    >>> from ipu_mlir.dialects.mapping.parts import PartLoop
    >>> rows = Parts((PartLoop(2, 6, 1), PartLoop(5, 5, 0)))
    >>> operand_mapping(rows, (Index((1, 0)),), shape=(6,), strides=(1,), offset=0, elements=6)
    Mapping(elements=6, loops=(MappingLoop(block=2, extent=6, stride=1, tile_step=1),), offset=0, first_tile=0)
    """
    return _operand_mapping(parts, tuple(indices), tuple(shape), tuple(strides), offset, elements)


@lru_cache(maxsize=1024)
def _operand_mapping(
    parts: Parts,
    indices: tuple[Index, ...],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    elements: int,
) -> Mapping:
    """Passes and verifiers ask for the same operands of the same parts, one after the other."""
    loop_steps, constant, whole = loop_strides(indices, strides, len(parts.loops))
    loops = [
        MappingLoop(part.block, part.extent, stride, part.tile_step)
        for part, stride in zip(parts.loops, loop_steps, strict=True)
    ]
    free = {loop for loop, stride in enumerate(loop_steps) if stride == 0}
    for dimension, stride in whole:
        loop, block = indices[dimension].block_of or (-1, 1)
        if loop in free and parts.loops[loop].block % block == 0:
            free.remove(loop)
            loops[loop] = MappingLoop(parts.loops[loop].block // block, shape[dimension], stride, loops[loop].tile_step)
        else:
            loops.append(MappingLoop(shape[dimension], shape[dimension], stride, 0))
    return Mapping(elements, tuple(loops), offset + constant, parts.first_tile).normalized()
