"""The traffic of an exchange counted element by element, for sides that have no common digits.

Time and memory grow with the elements of the destination's parts, each group of repeats counted once where the
classes of the source (see ``traffic``) are disjoint.
"""

from dataclasses import replace

import numpy as np

from ipu_mlir.dialects.mapping.enumeration import chunks, elements_of, holds, lowest_holder
from ipu_mlir.dialects.mapping.factors import Family
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.views import View


def traffic_by_element(
    give: Family, give_view: View, take: Family, take_view: View, num_tiles: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Received, sent and local elements per tile, each of shape ``(num_tiles,)``."""
    received, sent, local = (np.zeros(num_tiles, dtype=np.int64) for _ in range(3))
    if take.num_parts == 0:
        return received, sent, local
    shown = give_view.elements()
    giver = lowest_holder(give, shown)
    moves = np.zeros(len(shown), dtype=bool)
    by_class = all(factor.disjoint for factor in give.factors)
    groups = replace(take, repeats=np.zeros(1, dtype=np.int64)) if by_class else take
    tiles = take.tiles.reshape(groups.num_parts, -1)
    positions = _Positions(take_view)
    for chunk in chunks(groups, np.arange(groups.num_parts)):
        group, position = positions.held_by(groups, np.arange(chunk.start, chunk.stop))
        holder = give.parts_on(tiles[chunk])
        if by_class:
            held = np.where(holder >= 0, holder // max(1, len(give.repeats)), -1)
            here = _count_of_class(held, group, giver[position])
            settled = np.where(held.min(axis=1) == held.max(axis=1), held[:, 0], -1)[group]
            moves[position[settled != giver[position]]] = True
        else:
            found = holds(give, holder[group, 0], shown[position]) & (holder[group, 0] >= 0)
            here = np.bincount(group[found], minlength=len(holder))[:, None]
            moves[position[~found]] = True
        needed = np.bincount(group, minlength=len(holder))[:, None]
        local[tiles[chunk]] = here
        received[tiles[chunk]] = needed - here
    senders = giver[moves & (giver >= 0)]
    sent += np.bincount(give.tiles[senders * len(give.repeats)], minlength=num_tiles)
    return received, sent, local


class _Positions:
    """Finds the position at which a view shows an element."""

    def __init__(self, view: View) -> None:
        elements = view.elements()
        self._low = int(elements.min(initial=0))
        self._table = np.full(int(elements.max(initial=self._low)) - self._low + 1, -1, dtype=np.int64)
        self._table[elements - self._low] = np.arange(len(elements))

    def held_by(self, family: Family, parts: IntArray) -> tuple[IntArray, IntArray]:
        """Index into ``parts`` and position of everything that the parts hold of the view."""
        owner, elements = elements_of(family, parts)
        index = elements - self._low
        inside = (index >= 0) & (index < len(self._table))
        position = self._table[np.where(inside, index, 0)]
        inside &= position >= 0
        return owner[inside], position[inside]


def _count_of_class(held: IntArray, group: IntArray, giver: IntArray) -> IntArray:
    """The number of positions of each group that are given by each class in its row of ``held``; shape of ``held``."""
    classes = int(max(giver.max(initial=-1), held.max(initial=-1))) + 2
    codes, counts = np.unique(group * classes + giver + 1, return_counts=True)
    asked = np.arange(len(held))[:, None] * classes + held + 1
    where = np.minimum(np.searchsorted(codes, asked), len(codes) - 1)
    return np.where((held >= 0) & (codes[where] == asked), counts[where], 0) if len(codes) else np.zeros_like(held)
