"""The most that ever lives on each tile: one pass over what happens in a program, all tiles at once.

Tiles on which every buffer has the same size as on the tile before are looked at together, so that the time this takes
grows with the number of different tiles.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.memory.buffer_bytes import BufferBytes
from ipu_mlir.dialects.memory.per_tile import PerTile, common_starts
from ipu_mlir.dialects.memory.timeline import Event

TEMPORARIES, RESULTS, SCRATCH, GAPS = range(4)
"""Rows of ``Peaks.parts``."""


@dataclass(frozen=True)
class StepMemory:
    """The bytes that live during one step, always-live ones included; of a step that runs several times, the most.

    Attributes:
        worst_tile: the lowest tile that has most.
        live_bytes_worst: what it has.
        live_bytes_total: of all tiles together.
    """

    worst_tile: int
    live_bytes_worst: int
    live_bytes_total: int


@dataclass(frozen=True, eq=False)
class Peaks:
    """The moment at which each tile holds most.

    Attributes:
        step: the first step at which it does; -1 where nothing but always-live bytes ever is.
        parts: what it holds then besides always-live bytes: ``TEMPORARIES``, ``RESULTS``, ``SCRATCH``, ``GAPS``.
        data: the most that buffers ever take there, without gaps and scratch, arguments and constants left out.
        steps: by number of the step.
    """

    step: PerTile
    parts: tuple[PerTile, PerTile, PerTile, PerTile]
    data: PerTile
    steps: dict[int, StepMemory]


def sweep(
    events: Sequence[Event],
    buffers: Sequence[BufferBytes],
    results: frozenset[int],
    scratch: dict[int, PerTile],
    always: PerTile,
) -> Peaks:
    """Follow ``events``.

    Args:
        buffers: the bytes of each allocation, by its number.
        results: numbers of the allocations that the program returns.
        scratch: bytes that vertices need during a step, by its number.
        always: bytes that always live.
    """
    num_tiles = always.num_tiles
    distinct = list(dict.fromkeys((*(each.data for each in buffers), *scratch.values(), always)))
    starts = common_starts(distinct)
    on_runs = {each: each.from_tiles(starts) for each in distinct}
    state = _State(starts, on_runs[always], num_tiles)
    changes = [
        (RESULTS if number in results else TEMPORARIES, on_runs[each.data], each.gaps.from_tiles(starts))
        for number, each in enumerate(buffers)
    ]
    for event in events:
        if event.kind == "step":
            extra = scratch.get(event.number)
            state.step(event.number, None if extra is None else on_runs[extra])
        else:
            state.change(*changes[event.number], 1 if event.kind == "birth" else -1)
    return state.peaks()


class _State:
    """The bytes that live now, and the most that lived so far, on each run of tiles."""

    def __init__(self, starts: IntArray, always: IntArray, num_tiles: int) -> None:
        self._starts = starts
        self._lengths = np.diff(starts, append=num_tiles)
        self._num_tiles = num_tiles
        self._now = np.zeros((4, len(starts)), np.int64)
        self._live = always.copy()
        self._total = int(always @ self._lengths)
        self._peak = always.copy()
        self._peak_step = np.full(len(starts), -1)
        self._at_peak = np.zeros_like(self._now)
        self._data_peak = np.zeros_like(always)
        self._has_grown = True
        self._steps: dict[int, StepMemory] = {}

    def change(self, row: int, data: IntArray, gaps: IntArray, sign: int) -> None:
        """A buffer is born (1) or dies (-1)."""
        both = sign * (data + gaps)
        self._now[row] += sign * data
        self._now[GAPS] += sign * gaps
        self._live += both
        self._total += int(both @ self._lengths)
        self._has_grown |= sign > 0

    def step(self, number: int, scratch: IntArray | None) -> None:
        """A step runs, with so much scratch."""
        live, total = self._live, self._total
        self._now[SCRATCH] = 0 if scratch is None else scratch
        if scratch is not None:
            live, total = live + scratch, total + int(scratch @ self._lengths)
        worst = int(live.argmax())
        found = StepMemory(int(self._starts[worst]), int(live[worst]), total)
        if number not in self._steps or found.live_bytes_worst > self._steps[number].live_bytes_worst:
            self._steps[number] = found
        if self._has_grown or scratch is not None:
            more = live > self._peak
            if more.any():
                self._peak[more], self._peak_step[more] = live[more], number
                self._at_peak[:, more] = self._now[:, more]
            np.maximum(self._data_peak, self._now[TEMPORARIES] + self._now[RESULTS], out=self._data_peak)
        self._has_grown = False

    def peaks(self) -> Peaks:
        temporaries, results, scratch, gaps = map(self._per_tile, self._at_peak)
        parts = (temporaries, results, scratch, gaps)
        return Peaks(self._per_tile(self._peak_step), parts, self._per_tile(self._data_peak), self._steps)

    def _per_tile(self, values: IntArray) -> PerTile:
        return PerTile(self._starts, values.copy(), self._num_tiles).shortened()


def live_at(events: Sequence[Event], buffers: Sequence[BufferBytes], tile: int, step: int) -> list[int]:
    """The allocations that live on ``tile`` at ``step``, at the execution of it that has most there."""
    on_tile = [each.data.on(tile) for each in buffers]
    living: list[int] = []
    best, most = [], -1
    for event in events:
        if event.kind == "birth":
            living.append(event.number)
        elif event.kind == "death":
            living.remove(event.number)
        elif event.number == step and (now := sum(on_tile[each] for each in living)) > most:
            best, most = [each for each in living if on_tile[each]], now
    return best
