"""The elements of a family that the tiles of one IPU hold together, for all IPUs at once.

The parts of a family are a grid, one axis per factor; those on one IPU are a few boxes of that grid (a run of parts in
row-major order is a first row in part, whole rows, a last row in part). A box holds the product of what its rows hold.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ipu_mlir.dialects.mapping.factors import Factor, Family
from ipu_mlir.dialects.mapping.loops import BoolArray, IntArray

Box = tuple[IntArray, ...]
"""The rows of each factor."""

Intervals = tuple[tuple[int, int], ...]
"""Of values of a factor, disjoint and in order: each from its first to behind its last."""


@dataclass(frozen=True, eq=False)
class Boxes(Family):
    """Parts whose number is that of a row in every factor; ``owners`` is the IPU of each, shape ``(boxes,)``."""

    owners: IntArray

    def rows(self, factor: int, parts: IntArray | None) -> tuple[IntArray, IntArray]:
        """Starts and counts of ``factor`` for each of ``parts``."""
        chosen = self.factors[factor]
        return (chosen.starts, chosen.counts) if parts is None else (chosen.starts[parts], chosen.counts[parts])

    @property
    def box_sizes(self) -> IntArray:
        """The number of elements that each box holds."""
        sizes = np.ones(len(self.owners), dtype=np.int64)
        for factor in self.factors:
            sizes = sizes * factor.sizes
        return sizes


@lru_cache(maxsize=1024)
def boxes_on_ipus(family: Family, tiles_per_ipu: int) -> Boxes:
    """The elements on the tiles of each IPU, as boxes; those of one IPU may overlap where parts of the family do."""
    classes = np.repeat(np.arange(family.num_parts // len(family.repeats)), len(family.repeats))
    ipus = family.tiles // tiles_per_ipu
    shape = family.shape[:-1]
    found: list[tuple[int, Box]] = []
    order = np.argsort(ipus, kind="stable")
    held_on, begins = np.unique(ipus[order], return_index=True)
    for ipu, members in zip(held_on, np.split(classes[order], begins[1:]), strict=True):
        found += [(int(ipu), box) for box in _boxes(_distinct(members), shape)]
    factors = tuple(_unions(factor, [box[axis] for _, box in found]) for axis, factor in enumerate(family.factors))
    owners = np.array([ipu for ipu, _ in found], dtype=np.int64)
    return Boxes(family.base, family.first_tile, factors, np.zeros(1, dtype=np.int64), owners)


@lru_cache(maxsize=1024)
def apart(boxes: Boxes) -> Boxes:
    """``boxes`` cut into more of them where those of one IPU share elements, so that none do."""
    per_factor = [list(map(_intervals, factor.starts, factor.counts)) for factor in boxes.factors]
    found: dict[int, list[tuple[Intervals, ...]]] = {}
    for owner, *box in zip(boxes.owners.tolist(), *per_factor, strict=True):
        own = found.setdefault(owner, [])
        pieces = [tuple(box)]
        for other in own:
            pieces = [left for piece in pieces for left in _without(piece, other)]
        own += pieces
    pieces = [piece for own in found.values() for piece in own]
    tables = [_table([piece[axis] for piece in pieces]) for axis in range(len(boxes.factors))]
    factors = tuple(
        replace(factor, starts=starts, counts=counts, tiles=np.zeros(len(pieces), dtype=np.int64), disjoint=False)
        for factor, (starts, counts) in zip(boxes.factors, tables, strict=True)
    )
    owners = np.array([owner for owner, own in found.items() for _ in own], dtype=np.int64)
    return replace(boxes, factors=factors, owners=owners)


def _intervals(starts: IntArray, counts: IntArray) -> Intervals:
    return tuple((start, start + count) for start, count in zip(starts.tolist(), counts.tolist(), strict=True) if count)


def _table(rows: list[Intervals]) -> IntArray:
    """Starts and counts of the intervals of each row, shape ``(2, rows, most of them)``; 0 where a row has fewer."""
    table = np.zeros((2, len(rows), max((len(row) for row in rows), default=1)), dtype=np.int64)
    for number, row in enumerate(rows):
        for place, (start, stop) in enumerate(row):
            table[:, number, place] = start, stop - start
    return table


def _without(box: tuple[Intervals, ...], other: tuple[Intervals, ...]) -> list[tuple[Intervals, ...]]:
    """What ``box`` has and ``other`` has not, as disjoint boxes.

    >>> _without((((0, 4),), ((0, 4),)), (((2, 6),), ((1, 9),)))
    [(((0, 2),), ((0, 4),)), (((2, 4),), ((0, 1),))]
    """
    found: list[tuple[Intervals, ...]] = []
    common: list[Intervals] = []
    for axis, (own, others) in enumerate(zip(box, other, strict=True)):
        edges = (-(1 << 62), *(edge for interval in others for edge in interval), 1 << 62)
        between = tuple(zip(edges[::2], edges[1::2], strict=True))
        outside = _common(own, between)
        if outside:
            found.append((*common, outside, *box[axis + 1 :]))
        common.append(_common(own, others))
        if not common[-1]:
            break
    return found


def _common(one: Intervals, other: Intervals) -> Intervals:
    both = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple((start, stop) for start, stop in both if start < stop)


def _boxes(cells: IntArray, shape: tuple[int, ...]) -> list[Box]:
    """The cells of a grid, given by their row-major numbers in rising order, as disjoint boxes.

    >>> [tuple(axis.tolist() for axis in box) for box in _boxes(np.arange(2, 9), (3, 4))]
    [([0], [2, 3]), ([1], [0, 1, 2, 3]), ([2], [0])]
    """
    if len(shape) <= 1:
        return [(cells,)[: len(shape)]] if len(cells) else []
    if cells[-1] - cells[0] + 1 == len(cells):
        return _boxes_of_run(int(cells[0]), int(cells[-1]) + 1, shape)
    inner = int(np.prod(shape[1:]))
    rows, row = np.unique(cells // inner, return_inverse=True)
    columns, column = np.unique(cells % inner, return_inverse=True)
    grid: BoolArray = np.zeros((len(rows), len(columns)), dtype=bool)
    grid[row, column] = True
    boxes: list[Box] = []
    for number, alike in _equal_rows(grid):
        boxes += [(rows[alike], *rest) for rest in _boxes(columns[grid[number]], shape[1:])]
    return boxes


def _boxes_of_run(first: int, stop: int, shape: tuple[int, ...]) -> list[Box]:
    """The cells from ``first`` to ``stop`` of a grid, as ``_boxes`` gives them."""
    if first == stop:
        return []
    if len(shape) == 1:
        return [(np.arange(first, stop),)]
    inner = int(np.prod(shape[1:]))
    (row, begin), (last, end) = divmod(first, inner), divmod(stop, inner)
    if row == last:
        pieces = [(row, row + 1, begin, end)]
    else:
        whole = row + (begin > 0)
        pieces = [(row, whole, begin, inner), (whole, last, 0, inner), (last, last + 1, 0, end)]
    return [
        (np.arange(low, high), *rest)
        for low, high, left, right in pieces
        if low < high
        for rest in _boxes_of_run(left, right, shape[1:])
    ]


def _distinct(cells: IntArray) -> IntArray:
    """The different ones in rising order; those of a run are so already."""
    steps = np.diff(cells)
    return cells if (steps > 0).all() else cells[np.append(True, steps > 0)] if (steps >= 0).all() else np.unique(cells)


def _equal_rows(grid: BoolArray) -> list[tuple[int, IntArray]]:
    """One row of each kind, and the numbers of all rows that are equal to it."""
    kinds: dict[bytes, list[int]] = {}
    for number, row in enumerate(grid):
        kinds.setdefault(row.tobytes(), []).append(number)
    return [(rows[0], np.array(rows)) for rows in kinds.values()]


def _unions(factor: Factor, boxes: list[IntArray]) -> Factor:
    """One row per box: what the rows that the box names hold together."""
    known: dict[bytes, tuple[IntArray, IntArray]] = {}  # IPUs have the same rows of most factors
    for rows in boxes:
        if (key := rows.tobytes()) not in known:
            known[key] = _merged(factor.starts[rows].reshape(-1), factor.counts[rows].reshape(-1))
    merged = [known[rows.tobytes()] for rows in boxes]
    width = max((len(starts) for starts, _ in merged), default=1)
    table = np.zeros((2, len(boxes), max(1, width)), dtype=np.int64)
    for number, (starts, counts) in enumerate(merged):
        table[0, number, : len(starts)], table[1, number, : len(counts)] = starts, counts
    return Factor(factor.weight, factor.span, table[0], table[1], np.zeros(len(boxes), dtype=np.int64), False)


def _merged(starts: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """The union of intervals, as disjoint ones that do not touch.

    >>> [x.tolist() for x in _merged(np.array([4, 0, 2]), np.array([1, 2, 1]))]
    [[0, 4], [3, 1]]
    """
    order = np.argsort(starts, kind="stable")
    order = order[counts[order] > 0]
    starts, stops = starts[order], np.maximum.accumulate(starts[order] + counts[order])
    begins = np.concatenate(([True], starts[1:] > stops[:-1]))[: len(starts)]
    first = np.flatnonzero(begins)
    last = np.concatenate((first[1:] - 1, [len(starts) - 1]))[: len(first)]
    return starts[first], stops[last] - starts[first]
