"""The planner: the parts that take the fewest cycles within the memory of a tile."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod

from ipu_mlir.dialects.analysis.index import loop_strides
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.passes.placement.planner.balanced import Balanced, result_grains
from ipu_mlir.passes.placement.planner.candidates import Candidate, candidates_of, rank
from ipu_mlir.passes.placement.planner.estimate import Operand, Question
from ipu_mlir.passes.placement.planner.follow import parts_that_follow
from ipu_mlir.passes.placement.planner.grids import parts_of_grid
from ipu_mlir.passes.placement.planner.operation import InSteps, OperandUse, Operation
from ipu_mlir.passes.placement.planner.search import best_grids
from ipu_mlir.passes.placement.planner.steps import in_steps

Listener = Callable[[Operation, list[Candidate], Candidate | InSteps], None]
"""Told of every decision: the operation, what was considered, what was taken."""


@dataclass(frozen=True)
class Fastest:
    """Take the parts with the fewest estimated cycles, among grids over all tiles and the cuts of the operands.

    Cycles are those of the largest part, of bringing the operands that do not lie where the parts need them, and of
    combining partial results where a reduction is split. Where every candidate needs more than the operation's
    ``temporary_bytes``, or than a tile has, it runs in steps if that helps; if not, the one that needs least is taken.

    Attributes:
        grain_bytes: the fastest dimension of a result is cut at multiples of this many bytes, because a tile writes
            whole 64-bit words.
        most_partials: the most partial results that a reduction may be split into, 1 for none; None for no limit.
        listener: told of every decision.
    """

    grain_bytes: int = 8
    most_partials: int | None = None
    listener: Listener | None = field(default=None, compare=False)

    def __call__(self, operation: Operation, target: Target) -> Parts | InSteps:
        """The parts of ``operation`` on ``target``, or the steps in which it fits."""
        return _known(self, operation, target) if self.listener is None else self.decide(operation, target)

    def decide(self, operation: Operation, target: Target) -> Parts | InSteps:
        """The answer of the planner, found anew; the listener is told."""
        if operation.work is None or 0 in operation.extents:
            return Balanced(self.grain_bytes)(operation, target)
        question = question_of(operation, target, self.grain_bytes, self.most_partials)
        followers = [
            parts for parts in _followers(operation, target) if _partials(operation, parts) <= question.most_partials
        ]
        found = dict.fromkeys(followers, "an operand's cuts")
        if not all(operation.parallel) or not any(_is_whole(operation, parts) for parts in found):
            for grid, fastest in best_grids(question):
                found.setdefault(parts_of_grid(grid, operation.extents, fastest), "grid")
            found.setdefault(Balanced(self.grain_bytes)(operation, target), "balanced")
        candidates = candidates_of(operation, question, found)
        chosen: Candidate | InSteps = min(candidates, key=rank)
        if not min(candidates, key=lambda each: each.total).fits:
            chosen = in_steps(question, operation.step_loops, chosen) or chosen
        if self.listener is not None:
            self.listener(operation, candidates, chosen)
        return chosen if isinstance(chosen, InSteps) else chosen.parts


@lru_cache(maxsize=1024)
def _known(planner: Fastest, operation: Operation, target: Target) -> Parts | InSteps:
    """Layers of a network repeat: two in three operations of a resnet equal one before in all that decides."""
    return planner.decide(operation, target)


def question_of(
    operation: Operation, target: Target, grain_bytes: int = 8, most_partials: int | None = None
) -> Question:
    """The question that ``best_grids`` is asked for ``operation``."""
    assert operation.work is not None, "memory that only has to lie somewhere has no costs"
    reduced = tuple(x for x, parallel in enumerate(operation.parallel) if not parallel)
    elements = prod(operation.extents[loop] for loop in reduced)
    cuttable = operation.cuttable + (reduced if operation.splittable else ())
    return Question(
        work=operation.work,
        extents=operation.extents,
        cuttable=tuple(sorted(cuttable)),
        reduced=reduced,
        grains=result_grains(operation, grain_bytes),
        inputs=tuple(_operand(use) for use in operation.reads),
        outputs=tuple(_operand(use) for use in operation.outputs),
        num_tiles=target.num_compute_tiles,
        temporary_bytes=operation.temporary_bytes,
        machine=machine_of(target),
        most_partials=min(most_partials or elements, max(1, elements // 2)),  # fewer than there were to combine
    )


def _operand(use: OperandUse) -> Operand:
    sent = 0
    if use.home is not None and use.home.num_parts:
        sent = int(use.home.elements_per_tile()[1].max())
    return Operand(use.indices, use.shape, use.element_bytes, use.home is not None, sent)


def _followers(operation: Operation, target: Target) -> list[Parts]:
    """Parts that find an operand where it lies."""
    found = []
    for use in operation.reads:
        if use.home is None or use.home.elements <= 1 or not use.lies_on(target):
            continue
        strides, _, whole = loop_strides(use.indices, use.strides, len(operation.extents))
        cuttable = operation.cuttable
        if operation.splittable:
            cuttable = tuple(range(len(operation.extents)))
        if not whole:
            parts = parts_that_follow(use.home, operation.extents, strides, cuttable)
            if parts is not None:
                found.append(parts)
    return found


def _partials(operation: Operation, parts: Parts) -> int:
    counts = zip(parts.parts_per_loop, operation.parallel, strict=True)
    return prod(count for count, parallel in counts if not parallel)


def _is_whole(operation: Operation, parts: Parts) -> bool:
    """True if ``parts`` follow an operand that has an element for each iteration."""
    return any(
        prod(use.shape) >= prod(operation.extents) and use.home is not None and use.home.contains(use.needed(parts))
        for use in operation.reads
    )
