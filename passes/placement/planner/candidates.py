"""Candidates: parts that are compared, with what they cost where the operands really lie."""

from dataclasses import dataclass

import numpy as np

from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.passes.placement.planner.estimate import Brought, Question, estimate, fits
from ipu_mlir.passes.placement.planner.operation import OperandUse, Operation
from ipu_mlir.passes.placement.planner.shifts import box_around, largest, largest_missing, shifted_groups


@dataclass(frozen=True)
class Candidate:
    """Parts that were considered, and what they were found to cost.

    Attributes:
        origin: how they were found.
        compute, brought, combined: cycles, as in ``Estimate``.
        temporary, resident: bytes on the fullest tile, as in ``Estimate``.
        later: cycles for later ops, as in ``Estimate``.
        links: cycles on the links between IPUs, with the syncs of these exchanges.
    """

    parts: Parts
    origin: str
    compute: int
    brought: int
    combined: int
    temporary: int
    resident: int
    later: int
    fits: bool
    links: int = 0

    @property
    def total(self) -> int:
        return self.compute + self.brought + self.combined + self.later + self.links


def candidates_of(operation: Operation, question: Question, origins: dict[Parts, str]) -> list[Candidate]:
    """The costs of all parts of ``origins``, which says how each was found."""
    blocks = np.array([[min(loop.block, loop.extent) for loop in parts.loops] for parts in origins], dtype=np.int64)
    blocks = blocks.reshape(len(origins), -1)
    fastest = np.array([_fastest(parts) for parts in origins], dtype=np.int64)
    cost = estimate(question, blocks, _brought(operation, question, blocks, list(origins)), fastest)
    columns = (cost.compute, cost.brought, cost.combined, cost.temporary, cost.resident, cost.later)
    numbers = np.stack(columns, axis=1).tolist()
    good = fits(question, cost).tolist()
    return [
        Candidate(parts, origin, *row, fits=is_good)
        for (parts, origin), row, is_good in zip(origins.items(), numbers, good, strict=True)
    ]


def _fastest(parts: Parts) -> int:
    """The loop in which neighbouring tiles differ; -1 where there are no neighbours."""
    cut = [loop.tile_step == 1 and loop.block < loop.extent for loop in parts.loops]
    return cut.index(True) if True in cut else -1


def rank(candidate: Candidate) -> tuple[bool, int, int]:
    """The best candidate has the lowest: one that fits, by cycles; another by bytes; of equals the widest spread."""
    size = candidate.total if candidate.fits else candidate.temporary + candidate.resident
    return not candidate.fits, size, candidate.resident


def _brought(operation: Operation, question: Question, blocks: IntArray, choices: list[Parts]) -> Brought:
    """What each of ``choices`` brings, where the operands really lie."""
    whole = np.array([each.elements(blocks) for each in question.inputs], dtype=np.int64).T
    found = Brought.of_all(whole.reshape(len(choices), -1), question.inputs)
    groups = shifted_groups(operation.reads)
    for row, parts in enumerate(choices):
        boxes = {group: box_around([operation.reads[number] for number in group], parts) for group in groups}
        for number, use in enumerate(operation.reads):
            first, box = next(((group[0], box) for group, box in boxes.items() if number in group), (number, None))
            if number != first if box is not None else _is_at_home(use, parts):
                found.replace(row, number, 0, 0)
            elif use.home is not None and use.shows_part:
                needed = box if box is not None else use.needed(parts)
                found.replace(row, number, largest_missing(use.home, needed), largest(needed))
    return found


def _is_at_home(use: OperandUse, parts: Parts) -> bool:
    needed = use.needed(parts).normalized()
    if any(loop.stride == 0 and loop.block < loop.extent for loop in needed.loops):
        return False  # several tiles need the same, and a home has everything once
    return needed.is_home() if use.home is None else use.home.contains(needed)
