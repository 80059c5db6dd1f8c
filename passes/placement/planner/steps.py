"""Operations that do not fit at once, in steps that fit."""

from dataclasses import replace
from math import prod

import numpy as np

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.passes.placement.planner.candidates import Candidate
from ipu_mlir.passes.placement.planner.estimate import Operand, Question, estimate, fits
from ipu_mlir.passes.placement.planner.operation import InSteps, OperandUse, Operation
from ipu_mlir.passes.placement.planner.search import best_grids

_MOST_STEPS = 64  # the program grows with them
_RESERVED = 16  # of a tile, one part in so many is for code and for what lives between ops


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
        cycles = cycles_of_steps(int(found.total[0]), int(found.combined[0]), -(-question.extents[loop] // block))
        if fits(step, found).all():
            return None if whole.fits and whole.total <= cycles else InSteps(loop, block, cycles)
        if found.temporary[0] < least:
            least, smallest = int(found.temporary[0]), InSteps(loop, block, cycles)
    return None if whole.fits else smallest


def cycles_of_steps(total: int, combined: int, count: int) -> int:
    """Cycles of ``count`` steps, each of which takes ``total``, where partial results are ``combined`` once.

    >>> cycles_of_steps(100, 20, 4)
    340
    """
    return count * (total - combined) + combined


def step_of(operation: Operation, loop: int, block: int) -> Operation:
    """``operation`` for ``block`` iterations of ``loop``, a step of it."""
    left_out = operation.extents[loop] - block

    def part_of(uses: tuple[OperandUse, ...]) -> tuple[OperandUse, ...]:
        return tuple(replace(use, shape=_shape_of_step(use.indices, use.shape, loop, left_out)) for use in uses)

    return replace(
        operation,
        extents=tuple(block if at == loop else extent for at, extent in enumerate(operation.extents)),
        inputs=part_of(operation.inputs),
        inits=part_of(operation.inits),
        step_loops=(),
    )


def _shape_of_step(indices: tuple[Index, ...], shape: tuple[int, ...], loop: int, left_out: int) -> tuple[int, ...]:
    return tuple(size - left_out * abs(index.coefficients[loop]) for index, size in zip(indices, shape, strict=True))


def _step_of(question: Question, loop: int, block: int) -> Question:
    """``question`` for ``block`` iterations of ``loop``."""
    left_out = question.extents[loop] - block
    extents = tuple(block if at == loop else extent for at, extent in enumerate(question.extents))

    def part_of(operand: Operand) -> Operand:
        shape = _shape_of_step(operand.indices, operand.shape, loop, left_out)
        return replace(operand, shape=shape, placed=True)  # a slice has no home of its own

    lying = sum(prod(each.shape) * each.element_bytes for each in question.inputs if not each.placed)
    inputs = tuple(map(part_of, question.inputs))
    beside = -(-lying // question.num_tiles) + question.machine.bytes_per_tile // _RESERVED
    return replace(question, extents=extents, inputs=inputs, beside_bytes=beside)
