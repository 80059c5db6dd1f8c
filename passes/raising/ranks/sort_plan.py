"""How a sort goes over many tiles: rows that are sorted, and the steps that merge them."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.codelets.sort_tuples import sort_tuples_cycles
from ipu_mlir.dialects.costs.exchange import cycles_for_bytes
from ipu_mlir.dialects.machine.machine import Machine

Shape = tuple[int, int, int, int, int, int]

_MOST_HALVES = 6  # of a row: more than a worker needs for all that are on a tile


@dataclass(frozen=True)
class SortPlan:
    """A bitonic sort of ``rows`` rows, where each comparison of two elements is a merge of two rows.

    Batcher, "Sorting networks and their applications", 1968. Rows and their parts are powers of two in number.

    Attributes:
        rows: two for each tile that takes part, or 1.
        parts: of a row, each sorted by one worker at first.
        width: elements of a part.
        cycles: of all steps.
    """

    rows: int
    parts: int
    width: int
    cycles: int

    @property
    def elements(self) -> int:
        """Of all rows."""
        return self.rows * self.parts * self.width

    def steps(self) -> Iterator[Shape]:
        """The shape of the tuples in each step.

        >>> list(SortPlan(rows=4, parts=1, width=8, cycles=0).steps())[1:]
        [(1, 2, 1, 2, 1, 8), (1, 1, 1, 2, 2, 8), (1, 1, 2, 2, 1, 8)]
        """
        yield (self.rows * self.parts, 1, 1, 1, 1, self.width)
        part = self.width
        while part < self.parts * self.width:
            part *= 2
            yield (self.elements // part, 1, 1, 2, 1, part // 2)
        sorted_rows = 1
        while sorted_rows < self.rows:
            apart = sorted_rows
            sorted_rows *= 2
            ways = min(2, self.rows // sorted_rows)
            while apart:
                pairs = sorted_rows // (2 * apart)
                yield (self.rows // (sorted_rows * ways), ways, pairs, 2, apart, part)
                apart //= 2


def plan_sort(elements: int, element_bytes: tuple[int, ...], num_tiles: int, machine: Machine) -> SortPlan | None:
    """The fastest plan to sort ``elements`` tuples on ``num_tiles`` tiles; None where no tile has room for its rows.

    Args:
        element_bytes: of each member of a tuple.
    """
    plans = [
        _plan(elements, 2**rows, 2**halves, element_bytes, machine)
        for rows in range((2 * num_tiles).bit_length())
        for halves in range(_MOST_HALVES + 1)
        if elements >= 2 ** (rows + halves)
    ]
    room = machine.bytes_per_tile // 2  # tuples come in, and are written elsewhere; as much is left for others
    fitting = [plan for plan in plans if 2 * _tile_bytes(plan, element_bytes) <= room]
    return min(fitting, key=lambda plan: plan.cycles, default=None)


def _tile_bytes(plan: SortPlan, element_bytes: tuple[int, ...]) -> int:
    return min(2, plan.rows) * plan.parts * plan.width * sum(element_bytes)


def _plan(elements: int, rows: int, parts: int, element_bytes: tuple[int, ...], machine: Machine) -> SortPlan:
    width = -(-elements // (rows * parts))
    plan = SortPlan(rows, parts, width, 0)
    here = _tile_bytes(plan, element_bytes)
    exchange = int(cycles_for_bytes(here, here, machine)) + machine.sync_cycles + machine.start_cycles
    cycles = 0
    for blocks, ways, pairs, height, beside, each in plan.steps():
        of_tile = -(-2 * blocks * ways * pairs * beside // max(rows, 2))
        if height == 2 and each == parts * width:
            of_tile = 1
            cycles += exchange
        cycles += int(sort_tuples_cycles(of_tile, height, each, len(element_bytes), machine))
    return SortPlan(rows, parts, width, cycles)
