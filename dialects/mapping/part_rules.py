"""Rules for the parts of any structured op, asked by the verifier and before a planner's answer is taken."""

from collections.abc import Sequence

from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.counted import counted


def broken_part_rule(parts: Parts, extents: Sequence[int], multiples: Sequence[int]) -> str | None:
    """The first rule that ``parts`` break for loops of these ``extents``, as the end of a sentence, or None.

    ``multiples`` says per loop where it may be cut, 0 for one that may not be cut at all (``LoopNest.cut_multiples``).

    >>> from ipu_mlir.dialects.mapping.parts import PartLoop
    >>> broken_part_rule(Parts((PartLoop(4, 8, 1),)), extents=(10,), multiples=(1,))
    'has parts for 8 iterations of loop d0, which has 10'
    """
    if len(parts.loops) != len(extents):
        return f"has parts of {counted(len(parts.loops), 'loop')}, but the op has {len(extents)}"
    for number, (part, extent) in enumerate(zip(parts.loops, extents, strict=True)):
        if part.extent != extent:
            return f"has parts for {part.extent} iterations of loop d{number}, which has {extent}"
        if part.block < 1:
            return f"cuts loop d{number} into blocks of {part.block}; a block has at least one iteration"
        if part.block < extent and not multiples[number]:
            return f"cuts the reduction loop d{number} into blocks of {part.block}; one vertex must run all {extent}"
        if part.block < extent and part.block % multiples[number]:
            return (
                f"cuts the reduction loop d{number} into blocks of {part.block}, but its results are kept per block of "
                f"{multiples[number]}; cut it at multiples of that"
            )
    if not parts.tiles_are_distinct():
        return "puts two of its parts on one tile"
    return None
