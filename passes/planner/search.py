"""The search through grids: far apart first, then around the best of them."""

from collections import Counter
from functools import lru_cache

import numpy as np

from ipu_mlir.dialects.costs.work import Contraction
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.passes.planner.estimate import Estimate, Question, estimate, fits
from ipu_mlir.passes.planner.grids import coarse_grids, grids_near

_REFINED = 8  # grids whose neighbours are looked at
_COMPARED = 6  # grids that are compared with where operands really lie
_ALIKE = 2  # of these, how many cut the same loops


@lru_cache(maxsize=4096)
def best_grids(question: Question) -> tuple[tuple[int, ...], ...]:
    """The cheapest grids, the best first, as blocks per loop; operands that are placed count as lying elsewhere."""
    multiples = _good_multiples(question)
    space = (question.extents, question.cuttable, question.grains, multiples)
    grids = _within_limit(question, coarse_grids(*space, question.num_tiles))
    order = _order(question, estimate(question, grids))
    grids = _within_limit(question, grids_near(grids[order[:_REFINED]], *space, question.num_tiles))
    order = _order(question, estimate(question, grids))
    return _unlike([tuple(grid) for grid in grids[order].tolist()], question.extents)


def _unlike(grids: list[tuple[int, ...]], extents: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The first of ``grids``, but of those that cut the same loops only the first few."""
    alike: Counter[tuple[bool, ...]] = Counter()
    found = []
    for grid in grids:
        is_cut = tuple(block < extent for block, extent in zip(grid, extents, strict=True))
        alike[is_cut] += 1
        if alike[is_cut] <= _ALIKE:
            found.append(grid)
    return tuple(found[:_COMPARED])


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
    if isinstance(work, Contraction) and work.dtype in ("f16", "bf16", "f32"):
        for loop in (*work.out_channels, *work.field):
            good[loop] = machine.amp_units
        for loop in work.in_channels:
            good[loop] = machine.amp_input_channels(work.dtype)
    return tuple(good)
