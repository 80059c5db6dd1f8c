"""The state of one run: what the values of the program are now, and what the tiles hold."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ipu_mlir.runtime.per_tile.memory.tile_memories import Allocation, Buffer, TileMemories, View
from ipu_mlir.runtime.per_tile.program.exchange import Traffic
from ipu_mlir.runtime.per_tile.program.replicas import Meeting, same_way

T = TypeVar("T")
Run = Callable[["Machine"], None]


@dataclass(frozen=True)
class HeldBytes:
    """Bytes that lived on each tile during one step, shape (num_tiles,).

    A step is an exchange, a compute set, or control flow that reads a scalar.
    """

    location: str
    per_tile: np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Block:
    """A block of a function, ready to run.

    Attributes:
        arguments: slots of its arguments.
        unused: those of them that nothing uses.
        steps: per operation what it does, and the slots of values that nothing uses after it.
        yielded: slots of the operands of its terminator.
        last: slots of values that end with the block.
    """

    arguments: tuple[int, ...]
    unused: tuple[int, ...]
    steps: tuple[tuple[Run, tuple[int, ...]], ...]
    yielded: tuple[int, ...]
    last: tuple[int, ...]


class Machine:
    """The state of one run.

    Attributes:
        values: per slot a ``View`` of a buffer, or a scalar.
        memories: the tiles.
        strict: whether reading an element that was never written is an error, or yields its poison.
        traffic: one record per exchange that ran.
        held: one record per step that ran.
        streams, remote: the queues of the host, and the remote buffers.
        replica: which of the replicas that run the program this is, and ``replicas`` how many they are.
        active: names of the functions that are being called.
    """

    def __init__(
        self,
        num_tiles: int,
        strict: bool,
        streams: Any = None,
        replica: int = 0,
        meeting: Meeting | None = None,
        remote: Any = None,
    ) -> None:
        self.values: dict[int, Any] = {}
        self.memories = TileMemories(num_tiles)
        self.strict = strict
        self.streams, self.remote = streams, remote
        self.replica, self.replicas = replica, 1 if meeting is None else meeting.replicas
        self.active: set[str] = set()
        self._meeting = meeting
        self.traffic: list[Traffic] = []
        self.held: list[HeldBytes] = []
        self._constants: dict[str, View] = {}
        self._shown_by: dict[Allocation, int] = {}
        """Per living allocation, how many values show it, in slots or on their way from block to block."""

    def together(self, place: str, value: Any, make: Callable[[list[Any]], T]) -> T:
        """The result of ``make``, called once, for the values that all replicas bring to ``place``."""
        return make([value]) if self._meeting is None else self._meeting.together(self.replica, place, value, make)

    def agreed(self, place: str, decision: T) -> T:
        """``decision``, by which control flow goes on at ``place``: that of all replicas."""
        if self._meeting is not None:
            self.together(place, decision, lambda decisions: same_way(place, decisions))
        return decision

    def bind(self, slot: int, value: Any) -> None:
        """Let ``value`` be in ``slot``."""
        self.values[slot] = value
        if isinstance(value, View):
            self._shown_by[value.allocation] += 1

    def bind_all(self, slots: Sequence[int], values: Iterable[Any]) -> None:
        for slot, value in zip(slots, values, strict=True):
            self.bind(slot, value)

    def take(self, slots: Sequence[int]) -> list[Any]:
        """The values in ``slots``, to be handed to someone who ``receive``s them; until then their buffers live."""
        return self.held_once_more([self.values[slot] for slot in slots])

    def held_once_more(self, values: list[Any]) -> list[Any]:
        """``values``, to be handed to someone who ``receive``s them."""
        for value in values:
            if isinstance(value, View):
                self._shown_by[value.allocation] += 1
        return values

    def receive(self, slots: Sequence[int], values: Iterable[Any]) -> None:
        """Let values that were taken be in ``slots``."""
        self.values.update(zip(slots, values, strict=True))

    def new_buffer(self, buffer: Buffer, writable: bool = True) -> View:
        """A new allocation, poisoned; it lives while a value shows it."""
        view = self.memories.allocate(buffer, writable)
        self._shown_by[view.allocation] = 0
        return view

    def resident_buffer(self, buffer: Buffer, writable: bool = False) -> View:
        """A new allocation that lives to the end, and that nobody may write unless it is ``writable``."""
        view = self.new_buffer(buffer, writable)
        self._shown_by[view.allocation] = 1
        return view

    def constant(self, name: str, make: Callable[[], View]) -> View:
        """The buffer of the constant ``name``, which ``make`` makes when it is first asked for."""
        if name not in self._constants:
            self._constants[name] = make()
        return self._constants[name]

    def run(self, block: Block, arguments: Iterable[Any]) -> list[Any]:
        """Run ``block`` on arguments that were taken; answer the values that its terminator yields, taken."""
        self.receive(block.arguments, arguments)
        self.forget(block.unused)
        for run, dying in block.steps:
            run(self)
            if dying:
                self.forget(dying)
        yielded = self.take(block.yielded)
        self.forget(block.last)
        return yielded

    def record_step(self, place: str) -> None:
        self.held.append(HeldBytes(place, self.memories.held_bytes.copy()))

    def forget(self, slots: tuple[int, ...]) -> None:
        """End the values in ``slots``; a buffer that no value shows any more gives its memory back."""
        for slot in slots:
            value = self.values.pop(slot)
            if isinstance(value, View):
                self._shown_by[value.allocation] -= 1
                if not self._shown_by[value.allocation]:
                    del self._shown_by[value.allocation]
                    self.memories.release(value.allocation)
