"""State that a program keeps between runs: the variables, queues and remote buffers of one session."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.host_functions import HostFunction
from ipu_mlir.runtime.engine.infeeds import Infeed
from ipu_mlir.runtime.engine.inputs import as_expected
from ipu_mlir.runtime.engine.outfeeds import Outfeed
from ipu_mlir.runtime.engine.program_memory import aligned_bytes
from ipu_mlir.runtime.engine.remote import RemoteArray, RemoteMemory
from ipu_mlir.runtime.engine.streams import Streams
from ipu_mlir.runtime.engine.turns import Turn
from ipu_mlir.runtime.translator.translation import RemoteSpec, Stream, Variable


class Cell:
    """The memory of one variable, which programs read and write in place.

    Attributes:
        array: its memory, with numbers as programs hold them.
        has_value: whether they mean anything.
    """

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.array = aligned_bytes(variable.nbytes).view(variable.held).reshape(variable.shape)
        self.has_value = variable.initial is not None
        if variable.initial is not None:
            self.array[...] = variable.initial

    def value(self, name: str) -> np.ndarray:
        """A copy of its value.

        Raises:
            RunError: it has none yet; ``name`` is what the message calls it.
        """
        if not self.has_value:
            raise RunError(_unset(name))
        return self.array.astype(self.variable.dtype)

    def give(self, value: np.ndarray) -> None:
        """Let it have ``value``, of its shape and element type."""
        self.array[...] = value
        self.has_value = True


class RemoteCell(Cell):
    """A variable in the only row of a remote buffer."""

    def __init__(self, buffer: RemoteArray) -> None:
        spec = buffer.spec
        own = 0 if spec.whole is not None else spec.replicas
        shape = spec.whole[1:] if spec.whole is not None else (own, *spec.shape[2:]) if own else spec.shape[1:]
        self.variable = Variable(spec.name, shape, spec.dtype, spec.dtype, replicas=own)
        self.has_value, self.buffer = True, buffer

    def value(self, name: str) -> np.ndarray:
        return self.buffer.value().reshape(self.variable.shape)

    def give(self, value: np.ndarray) -> None:
        self.buffer.give(value.reshape(self.buffer.spec.whole or self.buffer.spec.shape))


class State:
    """The variables and queues of one session. Whoever runs a program on it holds ``turn``: threads take turns.

    Attributes:
        cells: by name of the variable.
        turn: a lock that one thread may take again.
        streams: the queues and functions; those that the host has said nothing about have no source, keep what they
            get, or cannot be called.
        remote: the remote buffers.
    """

    def __init__(
        self,
        variables: Iterable[Variable],
        shared: Mapping[str, Cell] | None = None,
        turn: Turn | None = None,
        queues: Iterable[Stream] = (),
        remote: RemoteMemory | Iterable[RemoteSpec] = (),
    ) -> None:
        """Make the variables, with their first values; those of one name are one.

        Args:
            shared: cells that others use too, who all take turns by ``turn``.
        """
        self.turn = turn or Turn()
        self.cells: dict[str, Cell] = dict(shared or {})
        for variable in variables:
            if variable.name not in self.cells:
                self.cells[variable.name] = Cell(variable)
        self.remote = remote if isinstance(remote, RemoteMemory) else RemoteMemory(remote)
        offloaded = {name: each for name, each in self.remote.buffers.items() if each.spec.is_variable}
        for name, buffer in offloaded.items():
            self.cells.setdefault(name, RemoteCell(buffer))
        for name, cell in self.cells.items():
            if isinstance(cell, RemoteCell) != (name in offloaded):
                raise RunError(
                    f"variable {name!r} is in remote memory for some functions and on tiles for others; compile them "
                    "alike, or together"
                )
        self.streams = Streams(self.turn)
        for queue in queues:
            if queue.kind == "infeed":
                self.streams.infeeds.setdefault(queue.name, Infeed(queue, None))
            elif queue.kind == "host_function":
                self.streams.functions.setdefault(queue.name, HostFunction(queue))
            else:
                self.streams.outfeeds.setdefault(queue.name, Outfeed(queue))

    def memory_of(self, variables: Sequence[Variable]) -> list[np.ndarray]:
        """The memory of ``variables``, for a program that is about to run.

        Raises:
            RunError: one that the program reads has no value yet.
        """
        for variable in variables:
            if variable.is_read and not self.cells[variable.name].has_value:
                raise RunError(_unset(variable.name))
        return [self.cells[variable.name].array for variable in variables]

    def have_values(self, variables: Iterable[Variable]) -> None:
        """A program that has ended gave ``variables`` values, if they had none."""
        for variable in variables:
            self.cells[variable.name].has_value = True

    def values(self) -> dict[str, np.ndarray]:
        """Copies of all values, of one moment between two runs; remote buffers in files have theirs there afterwards.

        Raises:
            RunError: a variable has no value yet, or a table has gathered updates.
        """
        with self.turn:
            for buffer in self.remote.buffers.values():
                buffer.flush()
            rows = {name: each.value() for name, each in self.remote.buffers.items() if each.file is None}
            return rows | {name: cell.value(name) for name, cell in self.cells.items()}

    def give(self, values: Mapping[str, Any]) -> None:
        """Give variables and remote buffers values, which are copied: all of them, or none.

        Raises:
            RunError: there is nothing of such a name, or it has another shape or element type.
        """
        checked = {name: self._checked(name, value) for name, value in values.items()}
        with self.turn:
            for name, value in checked.items():
                (self.cells.get(name) or self.remote.buffers[name]).give(value)

    def copy(self) -> "State":
        """The same values, in memory of their own; with queues that do without the host."""
        own = {name: cell for name, cell in self.cells.items() if name not in self.remote.buffers}
        copied = State(cell.variable for cell in own.values())
        copied.streams = self.streams.synthetic()
        copied.streams.is_quiet = True
        with self.turn:
            copied.remote = self.remote.copy()
            for name, cell in own.items():
                copied.cells[name].array[...], copied.cells[name].has_value = cell.array, cell.has_value
        return copied

    def _checked(self, name: str, value: Any) -> np.ndarray:
        if name in self.remote.buffers and name not in self.cells:
            return self.remote.expected(name, value)
        if name not in self.cells:
            raise RunError(f"there is no variable {name!r}; there are: {', '.join(self.cells) or 'none'}")
        variable = self.cells[name].variable
        if variable.replicas and np.shape(value) == variable.shape[1:]:
            value = np.broadcast_to(value, variable.shape)  # one for all replicas
        return as_expected(value, variable, f"the value of variable {name!r}")


def _unset(name: str) -> str:
    return f"variable {name!r} has no value yet; give it one, or run a function that assigns it"
