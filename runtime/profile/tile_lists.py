"""What each tile does in a step, and who sends to whom; each list of numbers once, however many steps have it."""

from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.costs.exchange import side_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.ipu_traffic import traffic_between_groups
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.memory.per_tile import PerTile
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.profile.compilation import Rle
from ipu_mlir.runtime.profile.step_costs import StepCost

T = TypeVar("T", bound=Hashable)

MOST_GROUPS = 16
"""Groups of tiles, unless there are more IPUs."""
MOST_EXCHANGES = 12
"""Different exchanges of which it is known who sends to whom: those that take longest."""

Moved = tuple[tuple[int, int, int], ...]
"""The group that sends, the one that receives, and bytes."""


class Distinct(Generic[T]):
    """Values by their index, equal ones once.

    >>> lists = Distinct()
    >>> [lists.index_of(each) for each in ("ab", "c", "ab")], lists.values
    ([0, 1, 0], ('ab', 'c'))
    """

    def __init__(self) -> None:
        self._index: dict[T, int] = {}

    def index_of(self, value: T) -> int:
        """The index of ``value``, which is added if it is new."""
        return self._index.setdefault(value, len(self._index))

    @property
    def values(self) -> tuple[T, ...]:
        """All of them, by index."""
        return tuple(self._index)


def group_size(ipus: int, tiles_per_ipu: int) -> int:
    """Tiles of a group: the fewest that cut an IPU evenly into no more groups than a picture can show.

    >>> [group_size(ipus, 1472) for ipus in (1, 4, 64)], group_size(1, 7)
    ([92, 368, 1472], 1)
    """
    sizes = (size for size in range(1, tiles_per_ipu + 1) if tiles_per_ipu % size == 0)
    return next((size for size in sizes if tiles_per_ipu // size * ipus <= MOST_GROUPS), tiles_per_ipu)


class TileLists:
    """Gives the lists of steps their indices."""

    def __init__(self, target: Target) -> None:
        self.group_tiles = group_size(target.ipus, target.tiles_per_ipu)
        self._groups = target.num_tiles // self.group_tiles
        self._cycles = Distinct[Rle]()
        self._index_of: dict[int, tuple[IntArray, int | None]] = {}
        """Of arrays that several steps share, by their identity, which they keep as long as they live."""

    def busy(self, cost: StepCost) -> int | None:
        """The index of the cycles for which each tile is busy; None where none is."""
        key = id(cost.busy)
        if key not in self._index_of:
            runs = tuple(PerTile.of(cost.busy).runs())
            self._index_of[key] = cost.busy, self._cycles.index_of(runs) if cost.busy.any() else None
        return self._index_of[key][1]

    def traffic(self, costs: Sequence[StepCost], counts: Sequence[int]) -> tuple[list[int | None], tuple[Moved, ...]]:
        """For each step the index of who sends to whom, or None, and what the indices mean."""
        spent: dict[tuple[ir.Type, ir.Type], int] = {}
        kinds = [cost.exchange_op and tuple(each.type for each in cost.exchange_op.operands) for cost in costs]
        for kind, cost, count in zip(kinds, costs, counts, strict=True):
            if kind is not None:
                spent[kind] = spent.get(kind, 0) + count * (cost.exchange + cost.inter_ipu)
        longest = sorted(spent, key=spent.__getitem__, reverse=True)[:MOST_EXCHANGES]
        found, index = Distinct[Moved](), dict[tuple[ir.Type, ir.Type], int]()
        for source, dest in longest:
            moved = traffic_between_groups(*side_of(source), *side_of(dest), self._groups, self.group_tiles)
            if moved is not None and moved.any():
                index[source, dest] = found.index_of(_sends(moved, dest))
        return [None if kind is None else index.get(kind) for kind in kinds], found.values

    @property
    def cycles(self) -> tuple[Rle, ...]:
        """Cycles of each tile, by index."""
        return self._cycles.values


def _sends(moved: IntArray, dest: ir.Type) -> Moved:
    size = element_bytes(ir.MemRefType(dest).element_type)
    senders, receivers = np.nonzero(moved)
    return tuple(zip(senders.tolist(), receivers.tolist(), (moved[senders, receivers] * size).tolist(), strict=True))
