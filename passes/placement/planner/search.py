"""The search through grids: far apart first, then around the best of them."""

from collections import Counter
from functools import lru_cache

import numpy as np

from ipu_mlir.dialects.costs.amp import uses_amp
from ipu_mlir.dialects.costs.work import Contraction
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.passes.placement.planner.estimate import Estimate, Question, estimate, fits
from ipu_mlir.passes.placement.planner.grids import coarse_grids, grids_near

_REFINED = 8  # grids whose neighbours are looked at
_COMPARED = 6  # grids that are compared with where operands really lie
_ALIKE = 2  # of these, how many cut the same loops


@lru_cache(maxsize=1024)
def best_grids(question: Question) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The cheapest grids, the best first, as blocks per loop, and the loop in which neighbouring tiles differ.

    Operands that are placed count as lying elsewhere.
    """
    multiples = _good_multiples(question)
    space = (question.extents, question.cuttable, question.grains, multiples)
    grids = _within_limit(question, coarse_grids(*space, question.num_tiles))
    order = _order(question, estimate(question, grids))
    grids = _within_limit(question, grids_near(grids[order[:_REFINED]], *space, question.num_tiles))
    found = estimate(question, grids)
    chosen = _unlike(_order(question, found), grids, question.extents)
    return tuple((tuple(grids[number].tolist()), int(found.fastest[number])) for number in chosen)


def _unlike(order: IntArray, grids: IntArray, extents: tuple[int, ...]) -> list[int]:
    """The first of ``order``, numbers of ``grids``, but of those that cut the same loops only the first few."""
    alike: Counter[tuple[bool, ...]] = Counter()
    found: list[int] = []
    for number in order.tolist():
        is_cut = tuple((grids[number] < np.array(extents)).tolist())
        alike[is_cut] += 1
        if alike[is_cut] <= _ALIKE:
            found.append(number)
        if len(found) == _COMPARED:
            break
    return found


def _within_limit(question: Question, grids: IntArray) -> IntArray:
    return grids[question.partials(grids) <= question.most_partials]


def _order(question: Question, found: Estimate) -> IntArray:
    """The numbers of the grids, the best first: those that fit by cycles, then the others by bytes.

    Of equals, the one that spreads wider leaves more memory on each tile.
    """
    good = fits(question, found)
    return np.lexsort((found.resident, np.where(good, found.total, found.temporary + found.resident), ~good))


def _good_multiples(question: Question) -> tuple[int, ...]:
    """Per loop, the size that the AMP units work on at once."""
    good = [1] * len(question.extents)
    work, machine = question.work, question.machine
    if isinstance(work, Contraction) and uses_amp(work.dtype):
        for loop in (*work.out_channels, *work.field):
            good[loop] = machine.amp_units
        for loop in work.in_channels:
            good[loop] = machine.amp_input_channels(work.dtype)
    return tuple(good)
