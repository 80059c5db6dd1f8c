"""Elements of parts one by one: the exact answer where two mappings have no digits in common."""

from collections.abc import Iterator

import numpy as np

from ipu_mlir.dialects.mapping.factors import Factor, Family
from ipu_mlir.dialects.mapping.loops import BoolArray, IntArray

CHUNK_ELEMENTS = 1 << 22
"""The number of elements that are looked at together, unless a single part has more."""


def elements_of(family: Family, parts: IntArray) -> tuple[IntArray, IntArray]:
    """All elements of ``parts``: the position in ``parts`` and the element, part after part."""
    owner = np.arange(len(parts))
    values = np.full(len(parts), family.base, dtype=np.int64)
    for index, factor in enumerate(family.factors):
        starts, counts = family.rows(index, parts)
        if len(starts) == 1:
            starts, counts = (np.broadcast_to(x, (len(parts), x.shape[1])) for x in (starts, counts))
        lengths = counts[owner].reshape(-1)
        first = np.repeat(values, counts.shape[1]) + factor.weight * starts[owner].reshape(-1)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        owner = np.repeat(np.repeat(owner, counts.shape[1]), lengths)
        values = np.repeat(first, lengths) + factor.weight * within
    return owner, values


def chunks(family: Family, parts: IntArray) -> Iterator[slice]:
    """Slices of ``parts`` with about ``CHUNK_ELEMENTS`` elements each."""
    totals = np.cumsum(family.sizes[parts])
    begin = 0
    while begin < len(parts):
        before = int(totals[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(totals, before + CHUNK_ELEMENTS, side="right")))
        yield slice(begin, end)
        begin = end


def digits(family: Family, elements: IntArray) -> tuple[list[IntArray], BoolArray]:
    """Each element's value in each factor, and whether the factors' values add up to the element at all."""
    rest = elements - family.base
    values = []
    for factor in family.factors:
        value = rest // factor.weight
        rest = rest - value * factor.weight
        values.append(value)
    return values, rest == 0


def in_intervals(value: IntArray, starts: IntArray, counts: IntArray) -> BoolArray:
    """True for each value that lies in one of the intervals of its row; shapes ``(n,)`` and ``(n or 1, intervals)``."""
    return np.any((starts <= value[:, None]) & (value[:, None] < starts + counts), axis=1)


def holds(family: Family, parts: IntArray, elements: IntArray) -> BoolArray:
    """True where ``parts[i]`` holds ``elements[i]``."""
    values, held = digits(family, elements)
    for index, value in enumerate(values):
        held &= in_intervals(value, *family.rows(index, parts))
    return held


def count_held(holder: Family, holder_parts: IntArray, held: Family, held_parts: IntArray) -> IntArray:
    """The number of elements of ``held_parts[i]`` that the part ``holder_parts[i]`` has, by looking at each of them."""
    counts = np.zeros(len(held_parts), dtype=np.int64)
    for chunk in chunks(held, held_parts):
        owner, elements = elements_of(held, held_parts[chunk])
        found = holds(holder, holder_parts[chunk][owner], elements)
        counts[chunk] = np.bincount(owner[found], minlength=len(counts[chunk]))
    return counts


def lowest_contribution(factor: Factor, values: IntArray) -> tuple[IntArray, BoolArray]:
    """The part of ``factor`` with the lowest tile among those that have each value, and whether there is one."""
    edges = np.unique(np.concatenate((factor.starts, factor.starts + factor.counts), axis=None))
    first = np.searchsorted(edges, factor.starts.reshape(-1))
    last = np.searchsorted(edges, (factor.starts + factor.counts).reshape(-1))
    lengths = last - first
    rank = np.empty(len(factor.tiles), dtype=np.int64)
    by_tile = np.argsort(factor.tiles, kind="stable")
    rank[by_tile] = np.arange(len(by_tile))
    covered = np.repeat(first - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    best = np.full(len(edges) + 1, len(by_tile), dtype=np.int64)  # per stretch from one edge to the next
    np.minimum.at(best, covered, np.repeat(np.repeat(rank, factor.starts.shape[1]), lengths))
    stretch = best[_stretch_of(edges, values)]
    found = stretch < len(by_tile)
    return by_tile[np.where(found, stretch, 0)], found


def _stretch_of(edges: IntArray, values: IntArray) -> IntArray:
    """In which stretch from one edge to the next each value lies; -1 before the first."""
    low, high = int(edges[0]), int(edges[-1])
    if high - low > 2 * len(values):
        return np.searchsorted(edges, values, side="right") - 1
    table = np.repeat(np.arange(-1, len(edges)), np.diff(edges, prepend=low - 1, append=high + 1))
    return table[np.clip(values, low - 1, high) - (low - 1)]


def lowest_holder(family: Family, elements: IntArray) -> IntArray:
    """The part with the lowest tile among those that hold each element, leaving repeats out; -1 where none does."""
    if family.num_parts == 0:
        return np.full(len(elements), -1, dtype=np.int64)
    values, found = digits(family, elements)
    part = np.zeros(len(elements), dtype=np.int64)
    for factor, value in zip(family.factors, values, strict=True):
        index, has = lowest_contribution(factor, value)
        part = part * len(factor.tiles) + index
        found &= has
    return np.where(found, part, -1)
