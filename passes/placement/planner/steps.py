"""Operations that do not fit at once, in steps that fit."""

from dataclasses import replace

import numpy as np

from ipu_mlir.passes.placement.planner.candidates import Candidate
from ipu_mlir.passes.placement.planner.estimate import Operand, Question, estimate, fits
from ipu_mlir.passes.placement.planner.operation import InSteps
from ipu_mlir.passes.placement.planner.search import best_grids

_MOST_STEPS = 64  # the program grows with them


def in_steps(question: Question, loops: tuple[int, ...], whole: Candidate) -> InSteps | None:
    """The fewest steps, a power of two, in which a grid fits, unless it is faster to run as a ``whole`` that fits.

    The longest of ``loops`` is cut; a step has all of the results, and a share of the operands that the loop indexes.
    Where nothing fits, the steps that need least are better than a whole that needs twice as much.
    """
    if not loops:
        return None
    loop = max(loops, key=lambda each: question.extents[each])
    block = question.extents[loop]
    least, smallest = whole.temporary // 2, None  # steps that do not fit either, but take less than half
    while block > 1 and question.extents[loop] < _MOST_STEPS * block:
        block = -(-block // 2)
        step = _step_of(question, loop, block)
        found = estimate(step, np.array([best_grids(step)[0][0]], dtype=np.int64))
        if fits(step, found).all():
            cycles = int(found.total[0]) * -(-question.extents[loop] // block)
            return None if whole.fits and whole.total <= cycles else InSteps(loop, block)
        if found.temporary[0] < least:
            least, smallest = int(found.temporary[0]), InSteps(loop, block)
    return None if whole.fits else smallest


def _step_of(question: Question, loop: int, block: int) -> Question:
    """``question`` for ``block`` iterations of ``loop``."""
    left_out = question.extents[loop] - block
    extents = tuple(block if at == loop else extent for at, extent in enumerate(question.extents))

    def part_of(operand: Operand) -> Operand:
        sizes = zip(operand.indices, operand.shape, strict=True)
        shape = tuple(size - left_out * abs(index.coefficients[loop]) for index, size in sizes)
        return replace(operand, shape=shape, placed=True)  # a slice has no home of its own

    return replace(question, extents=extents, inputs=tuple(map(part_of, question.inputs)))
