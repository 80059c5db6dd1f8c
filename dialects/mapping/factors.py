"""The elements of all parts of a mapping as products of digits: the form that every query computes on.

Loops of a mapping whose strides lie far apart are independent digits of the element index, like row and column.
Loops of strides so close that their elements interleave (the window of a convolution) form one digit together. Each
digit is a ``Factor``: for each of its parts a few intervals. A part of the mapping picks one part of each factor, and
holds every sum of their values. Hence counts are products, and any question splits into questions on intervals.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import gcd, prod

import numpy as np

from ipu_mlir.dialects.mapping.loops import AnyArray, IntArray, MappingLoop, parts_of_loop, refuse_too_large


@dataclass(frozen=True, eq=False)
class Factor:
    """One digit: part ``p`` holds ``weight * v`` for ``v`` in the disjoint intervals of row ``p``.

    ``starts`` and ``counts`` have shape ``(parts, intervals)``, in units of ``weight``; a count of 0 is no interval.
    ``tiles`` has shape ``(parts,)``: what part ``p`` adds to the tile. All values lie in ``0 .. span``. ``disjoint``:
    no two parts have a value in common.
    """

    weight: int
    span: int
    starts: IntArray
    counts: IntArray
    tiles: IntArray
    disjoint: bool

    @cached_property
    def sizes(self) -> IntArray:
        """The number of values of each part, shape ``(parts,)``."""
        return self.counts.sum(axis=1)


def one_interval(weight: int, extent: int) -> Factor:
    """The factor whose only part has the values ``0 .. extent - 1``; none if ``extent`` is 0."""
    zero = np.zeros((1, 1), dtype=np.int64)
    return Factor(weight, max(0, extent - 1), zero, zero + extent, zero[0], True)


@dataclass(frozen=True, eq=False)
class Family:
    """All parts of a mapping: part ``(f_0, f_1, ..., r)`` in row-major order, one index per factor, then the repeats.

    The factors' weights fall, and each is larger than the sum of all spans behind it: every element has one
    representation ``base + sum(weight_f * v_f)``. ``repeats`` is what each copy adds to the tile, shape ``(copies,)``.
    """

    base: int
    first_tile: int
    factors: tuple[Factor, ...]
    repeats: IntArray

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Parts per factor, then the repeats."""
        return (*(len(factor.tiles) for factor in self.factors), len(self.repeats))

    @property
    def last(self) -> int:
        """The highest element of all parts."""
        return self.base + sum(factor.weight * factor.span for factor in self.factors)

    @cached_property
    def num_parts(self) -> int:
        return prod(self.shape)

    @cached_property
    def tiles(self) -> IntArray:
        """The tile of each part."""
        tiles = np.array([self.first_tile], dtype=np.int64)
        for steps in (*(factor.tiles for factor in self.factors), self.repeats):
            tiles = (tiles[:, None] + steps).reshape(-1) if len(steps) > 1 else tiles + steps
        return tiles

    @cached_property
    def sizes(self) -> IntArray:
        """The number of elements that each part holds."""
        sizes = np.ones(1, dtype=np.int64)
        for factor in self.factors:
            sizes = np.multiply.outer(sizes, factor.sizes).reshape(-1)
        return np.repeat(sizes, len(self.repeats))

    @cached_property
    def _part_of_tile(self) -> tuple[int, IntArray]:
        """The lowest tile, and the part on each tile from there on (-1: none)."""
        lowest = int(self.tiles.min())
        parts = np.full(int(self.tiles.max()) - lowest + 1, -1, dtype=np.int64)
        parts[self.tiles - lowest] = np.arange(self.num_parts)
        return lowest, parts

    def parts_on(self, tiles: AnyArray) -> IntArray:
        """The part that lies on each of ``tiles``; -1 where none does."""
        if self.num_parts == 0:
            return np.full(tiles.shape, -1, dtype=np.int64)
        lowest, parts = self._part_of_tile
        position = tiles - lowest
        inside = (position >= 0) & (position < len(parts))
        if inside.all():
            return parts[position]
        return np.where(inside, parts[np.where(inside, position, 0)], -1)

    def rows(self, factor: int, parts: IntArray | None) -> tuple[IntArray, IntArray]:
        """Starts and counts of ``factor`` for each of ``parts`` (None: every part), shape ``(len(parts), intervals)``.

        One row stands for all where the factor has a single part.
        """
        chosen = self.factors[factor]
        if len(chosen.tiles) == 1:
            return chosen.starts, chosen.counts
        inner = prod(self.shape[factor + 1 :])
        if parts is None:
            outer = prod(self.shape[:factor])
            starts, counts = np.repeat(chosen.starts, inner, axis=0), np.repeat(chosen.counts, inner, axis=0)
            return np.tile(starts, (outer, 1)), np.tile(counts, (outer, 1))
        index = parts // inner if inner > 1 else parts
        if factor > 0:
            index = index % len(chosen.tiles)
        return chosen.starts[index], chosen.counts[index]


@lru_cache(maxsize=1024)
def family_of(loops: tuple[MappingLoop, ...], offset: int, first_tile: int) -> Family:
    """The parts of the mapping with these loops, which are in normal form (``normalize``)."""
    refuse_too_large(loops, abs(offset) + abs(first_tile) + _reach(list(loops)))
    repeated = [loop for loop in loops if loop.stride == 0]
    repeats = np.zeros(1, dtype=np.int64)
    for loop in repeated:
        repeats = np.add.outer(repeats, loop.tile_step * np.arange(loop.extent)).reshape(-1)
    groups = _group([loop for loop in loops if loop.stride != 0])
    base = offset + sum(min(0, loop.stride) * (loop.extent - 1) for loop in loops)
    return Family(base, first_tile, tuple(_factor(group) for group in groups), repeats)


def _reach(loops: list[MappingLoop]) -> int:
    """The largest sum of the loops, counted from their smallest."""
    return sum(abs(loop.stride) * (loop.extent - 1) for loop in loops)


def _group(loops: list[MappingLoop]) -> list[list[MappingLoop]]:
    """Loops in order of falling stride, cut where all that follows is smaller than any step of what comes before."""
    groups: list[list[MappingLoop]] = []
    below: list[int] = []  # reach of everything under each group
    for loop in reversed(loops):
        under = below[-1] + _reach(groups[-1]) if groups else 0
        groups.append([loop])
        below.append(under)
        while len(groups) > 1 and gcd(*(x.stride for x in groups[-1])) <= below[-1]:
            upper = groups.pop()
            below.pop()
            groups[-1] = upper + groups[-1]
    return groups[::-1]


def _factor(loops: list[MappingLoop]) -> Factor:
    """The digit that ``loops`` form together; its parts in row-major order of theirs."""
    weight = gcd(*(loop.stride for loop in loops))
    starts = np.zeros(1, dtype=np.int64)
    tiles = np.zeros(1, dtype=np.int64)
    variant = np.zeros(1, dtype=np.int64)  # bit l: the part has the last, smaller block of loop l
    steps = [abs(loop.stride) // weight for loop in loops]
    for bit, (loop, step) in enumerate(zip(loops, steps, strict=True)):
        index = np.arange(parts_of_loop(loop))
        low = loop.block * index
        if loop.stride < 0:
            low = loop.extent - np.minimum(low + loop.block, loop.extent)
        ragged = (index + 1) * loop.block > loop.extent
        starts = np.add.outer(starts, step * low).reshape(-1)
        tiles = np.add.outer(tiles, loop.tile_step * index).reshape(-1)
        variant = np.add.outer(variant, ragged.astype(np.int64) << bit).reshape(-1)
    runs = {
        int(v): _runs(steps, [x.extent % x.block if v >> i & 1 else x.block for i, x in enumerate(loops)])
        for v in np.unique(variant)
    }
    width = max(len(lengths) for _, lengths in runs.values())
    table = np.zeros((2, max(runs) + 1, width), dtype=np.int64)
    for v, (begins, lengths) in runs.items():
        table[0, v, : len(begins)], table[1, v, : len(lengths)] = begins, lengths
    starts, counts = starts[:, None] + table[0, variant], table[1, variant]
    return Factor(
        weight, _reach(loops) // weight, starts, counts, tiles, len(loops) == 1 or _are_disjoint(starts, counts)
    )


def _are_disjoint(starts: IntArray, counts: IntArray) -> bool:
    """True if no two intervals share a number; those of one row never do."""
    starts, stops = starts[counts > 0], (starts + counts)[counts > 0]
    order = np.argsort(starts, kind="stable")
    return bool((stops[order][:-1] <= starts[order][1:]).all())


def _runs(steps: list[int], counts: list[int]) -> tuple[IntArray, IntArray]:
    """Starts and lengths of the runs of consecutive numbers in ``{sum(step_l * i_l), 0 <= i_l < count_l}``."""
    length = 1
    for step, count in sorted(zip(steps, counts, strict=True)):
        if count > 1 and step > length:
            break
        length += step * (count - 1)
    else:
        return np.zeros(1, dtype=np.int64), np.array([length])
    values = np.zeros(1, dtype=np.int64)
    for step, count in zip(steps, counts, strict=True):
        values = np.unique(np.add.outer(values, step * np.arange(count)))
    breaks = np.flatnonzero(np.diff(values) > 1) + 1
    begins = np.concatenate(([0], breaks))
    return values[begins], np.diff(np.concatenate((begins, [len(values)])))
