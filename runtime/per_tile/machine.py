"""The state of one run: what the values of the program are now, and what the tiles hold."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.runtime.per_tile.exchange import Traffic
from ipu_mlir.runtime.per_tile.memory import Allocation, Buffer, TileMemories, View

Run = Callable[["Machine"], None]


@dataclass(frozen=True)
class HeldBytes:
    """Bytes that lived on each tile during one step (an exchange or a compute set), shape (num_tiles,)."""

    location: str
    per_tile: np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Block:
    """A block of a function, ready to run.

    Attributes:
        arguments: slots of its arguments.
        steps: per operation what it does, and the slots of values that nothing uses after it.
        handed_on: slots of the operands of its terminator.
        last: slots of values that nothing uses after the block.
    """

    arguments: tuple[int, ...]
    steps: tuple[tuple[Run, tuple[int, ...]], ...]
    handed_on: tuple[int, ...]
    last: tuple[int, ...]


class Machine:
    """The state of one run.

    Attributes:
        values: per slot a ``View`` of a buffer, or a scalar.
        memories: the tiles.
        strict: whether reading an element that was never written is an error, or yields its poison.
        traffic: one record per exchange that ran.
        held: one record per step that ran.
    """

    def __init__(self, num_tiles: int, strict: bool) -> None:
        self.values: dict[int, Any] = {}
        self.memories = TileMemories(num_tiles)
        self.strict = strict
        self.traffic: list[Traffic] = []
        self.held: list[HeldBytes] = []
        self._constants: dict[str, View] = {}
        self._shown_by: dict[Allocation, int] = {}
        """Per living allocation, how many values show it."""
        self._unshown: set[Allocation] = set()

    def bind(self, slot: int, value: Any) -> None:
        """Let ``value`` be in ``slot``."""
        self.values[slot] = value
        if isinstance(value, View):
            self._shown_by[value.allocation] += 1

    def bind_all(self, slots: Sequence[int], values: Iterable[Any]) -> None:
        for slot, value in zip(slots, values, strict=True):
            self.bind(slot, value)

    def new_buffer(self, buffer: Buffer, writable: bool = True) -> View:
        """A new allocation, poisoned; it lives while a value shows it."""
        view = self.memories.allocate(buffer, writable)
        self._shown_by[view.allocation] = 0
        return view

    def constant(self, name: str, make: Callable[[], View]) -> View:
        """The buffer of the constant ``name``, which ``make`` makes at its first use; it lives to the end."""
        if name not in self._constants:
            view = self._constants[name] = make()
            self._shown_by[view.allocation] = 1
        return self._constants[name]

    def run(self, block: Block, arguments: Iterable[Any]) -> list[Any]:
        """Run ``block`` on ``arguments``; answer the values that its terminator hands on.

        The buffers among them live until they are bound again or the next operation has run.
        """
        self.bind_all(block.arguments, arguments)
        for run, dying in block.steps:
            run(self)
            if dying:
                self._forget(dying)
            if self._unshown:
                self._release_buffers()
        handed_on = [self.values[slot] for slot in block.handed_on]
        self._forget(block.last)
        return handed_on

    def record_step(self, place: str) -> None:
        self.held.append(HeldBytes(place, self.memories.held_bytes.copy()))

    def _forget(self, slots: tuple[int, ...]) -> None:
        for slot in slots:
            value = self.values.pop(slot)
            if isinstance(value, View):
                self._shown_by[value.allocation] -= 1
                if not self._shown_by[value.allocation]:
                    self._unshown.add(value.allocation)

    def _release_buffers(self) -> None:
        """Take back the memory of the buffers that no value shows any more."""
        for allocation in self._unshown:
            if not self._shown_by[allocation]:
                del self._shown_by[allocation]
                self.memories.release(allocation)
        self._unshown.clear()
