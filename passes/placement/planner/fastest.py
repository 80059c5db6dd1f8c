"""The planner: the parts that take the fewest cycles within the memory of a tile."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod

from ipu_mlir.dialects.analysis.index import loop_strides
from ipu_mlir.dialects.costs.work import Gather
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.passes.placement.planner.balanced import Balanced, result_grains
from ipu_mlir.passes.placement.planner.candidates import Candidate, candidates_of, rank
from ipu_mlir.passes.placement.planner.estimate import Operand, Question
from ipu_mlir.passes.placement.planner.follow import parts_near, parts_that_follow
from ipu_mlir.passes.placement.planner.grids import parts_of_grid, parts_on_each_ipu
from ipu_mlir.passes.placement.planner.on_ipus import ipus_of, numbers_of_ipus, with_links
from ipu_mlir.passes.placement.planner.operation import InSteps, OperandUse, Operation
from ipu_mlir.passes.placement.planner.search import best_grids
from ipu_mlir.passes.placement.planner.shifts import shifted_groups, spans_of
from ipu_mlir.passes.placement.planner.steps import cycles_of_steps, in_steps, step_of

_COMPARED = 6  # grids for a share of each loop
_SHORT = 1000  # cycles on a few tiles, which sooner follow an operand than bring it to others

Listener = Callable[[Operation, list[Candidate], Candidate | InSteps], None]
"""Told of every decision: the operation, what was considered, what was taken."""


@dataclass(frozen=True)
class Fastest:
    """Take the parts with the fewest estimated cycles, among grids over all tiles and the cuts of the operands.

    Cycles are those of the largest part, of bringing the operands that do not lie where the parts need them, and of
    combining partial results where a reduction is split. Where every candidate needs more than the operation's
    ``temporary_bytes``, or than a tile has, it runs in steps if that helps; if not, the one that needs least is taken.
    Of several IPUs it takes one, or two, or four, and so on, with what goes over the links: it may leave some idle.

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
        if target.ipus == 1:
            question, found = self._considered(operation, target)
            candidates = candidates_of(operation, question, found)
            chosen = _best(question, operation, candidates)
        else:
            candidates, chosen = self._on_several_ipus(operation, target)
        if self.listener is not None:
            self.listener(operation, candidates, chosen)
        return chosen if isinstance(chosen, InSteps) else chosen.parts

    def _considered(self, operation: Operation, target: Target) -> tuple[Question, dict[Parts, str]]:
        """The question about ``operation`` on all tiles of ``target``, and the parts to compare, with their origin."""
        question = question_of(operation, target, self.grain_bytes, self.most_partials)
        followers = [
            parts for parts in _followers(operation, target) if _partials(operation, parts) <= question.most_partials
        ]
        found = dict.fromkeys(followers, "an operand's cuts")
        is_alike = all(operation.parallel) and not isinstance(operation.work, Gather)  # a table may cost more than rows
        is_followed = is_alike and any(_is_whole(operation, parts) for parts in found)
        if not is_followed or not _is_good(candidates_of(operation, question, found), target):
            grids = dict.fromkeys(self._on_equal_shares(operation, target), "grid on each IPU")
            if not grids:
                best = best_grids(question)
                grids = {parts_of_grid(grid, operation.extents, fastest): "grid" for grid, fastest in best}
            found |= {parts: origin for parts, origin in grids.items() if parts not in found}
            found.setdefault(Balanced(self.grain_bytes)(operation, target), "balanced")
        return question, found

    def _on_several_ipus(self, operation: Operation, target: Target) -> tuple[list[Candidate], Candidate | InSteps]:
        """The best of what was found on one IPU, on two, and so on: more of them are taken where that is faster."""
        every: list[Candidate] = []
        choices: list[Candidate | InSteps] = []
        for count in operation.ipus or numbers_of_ipus(1, target.ipus):
            part = replace(target, ipus=count)
            question, candidates = self._with_links(operation, part, target, every)
            if candidates:
                every += candidates
                best = _best(question, operation, candidates)
                choices.append(best if isinstance(best, Candidate) else self._best_steps(operation, best, part, target))
        return every, min(choices, key=_cycles)

    def _with_links(
        self, operation: Operation, part: Target, target: Target, others: Sequence[Candidate]
    ) -> tuple[Question, list[Candidate]]:
        """The question on ``part`` of all IPUs, and candidates there that may be better than ``others``."""
        question, found = self._considered(operation, part)
        return question, with_links(operation, candidates_of(operation, question, found), part, target, others)

    def _best_steps(self, operation: Operation, steps: InSteps, part: Target, target: Target) -> InSteps:
        """``steps`` or twice as many, with the cycles that they take with their links."""
        found = []
        for block in dict.fromkeys((steps.block, -(-steps.block // 2))):
            step = step_of(operation, steps.loop, block)
            best = min(self._with_links(step, part, target, ())[1], key=rank)
            count = -(-operation.extents[steps.loop] // block)
            cycles = cycles_of_steps(best.total, best.combined, count)
            found.append((not best.fits, InSteps(steps.loop, block, cycles)))
        return min(found, key=lambda each: (each[0], each[1].cycles))[1]

    def _on_equal_shares(self, operation: Operation, target: Target) -> Iterator[Parts]:
        """Parts of which each of several IPUs has a share of one loop: operands that this loop indexes stay on it."""
        if target.ipus == 1:
            return
        one = replace(target, ipus=1)
        for loop in operation.cuttable:
            share = -(-operation.extents[loop] // target.ipus)
            if operation.extents[loop] < target.ipus:
                continue
            extents = tuple(share if at == loop else each for at, each in enumerate(operation.extents))
            question = question_of(replace(operation, extents=extents), one, self.grain_bytes, self.most_partials)
            for grid, fastest in best_grids(question)[:_COMPARED]:
                yield from parts_on_each_ipu(grid, operation.extents, loop, fastest, question.grains[loop], target)


def _cycles(choice: Candidate | InSteps) -> tuple[bool, int]:
    if isinstance(choice, InSteps):
        return False, choice.cycles
    return not choice.fits, choice.total


def _best(question: Question, operation: Operation, candidates: list[Candidate]) -> Candidate | InSteps:
    """The best of ``candidates``, or steps where the fastest does not fit and they are better."""
    best = min(candidates, key=rank)
    if min(candidates, key=lambda each: each.total).fits:
        return best
    return in_steps(question, operation.step_loops, best) or best


@lru_cache(maxsize=1024)
def _known(planner: Fastest, operation: Operation, target: Target) -> Parts | InSteps:
    """Layers of a network repeat: two in three operations of a resnet equal one before in all that decides."""
    return planner.decide(operation, target)


def cycles_of(operation: Operation, parts: Parts, target: Target) -> int:
    """Cycles of ``operation`` if it is cut into ``parts``, with what they bring and what goes over links."""
    if operation.work is None or 0 in operation.extents:
        return 0
    part = replace(target, ipus=ipus_of(parts, target))
    found = candidates_of(operation, question_of(operation, part), {parts: "given"})
    return (found if target.ipus == 1 else with_links(operation, found, part, target, ()))[0].total


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
        inputs=tuple(_inputs(operation.reads)),
        outputs=tuple(_operand(use) for use in operation.outputs),
        num_tiles=target.num_compute_tiles,
        temporary_bytes=operation.temporary_bytes,
        machine=machine_of(target),
        reach=operation.reach if any(operation.reach) else (),
        most_partials=min(most_partials or elements, max(1, elements // 2)),  # fewer than there were to combine
    )


def _inputs(uses: Sequence[OperandUse]) -> list[Operand]:
    """What is read; the first of several shifts of one allocation stands for all of them."""
    found = [_operand(use) for use in uses]
    for group in shifted_groups(uses):
        spans = spans_of([uses[number] for number in group])
        for number in group:
            is_first = number == group[0]
            found[number] = replace(found[number], shifts=len(group) if is_first else 0, spans=spans)
    return found


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
            if parts is None and use.shows_part:
                parts = parts_near(use.home, operation.extents, strides, cuttable, use.offset)
            if parts is not None:
                found.append(parts)
    return found


def _partials(operation: Operation, parts: Parts) -> int:
    counts = zip(parts.parts_per_loop, operation.parallel, strict=True)
    return prod(count for count, parallel in counts if not parallel)


def _is_good(followers: list[Candidate], target: Target) -> bool:
    """True if the best of ``followers`` fits, and is short or on most tiles: nothing is far better then."""
    best = min(followers, key=rank)
    return best.fits and (best.compute <= _SHORT or 2 * best.parts.num_parts > target.tiles_per_ipu)


def _is_whole(operation: Operation, parts: Parts) -> bool:
    """True if ``parts`` follow an operand that has an element for each iteration."""
    return any(
        prod(use.shape) >= prod(operation.extents) and use.home is not None and use.home.contains(use.needed(parts))
        for use in operation.reads
    )
