"""The instructions of a scalar body. They run on arrays of iterations, under a mask where control flow has a say.

A mask is an array of booleans that broadcasts with the iterations, or None for all of them. What an instruction
computes for an iteration outside its mask is never used; loads and checks leave such iterations out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.memory.tile_memories import View

Array = np.ndarray[Any, Any]
Mask = Array | None
LoadElements = Callable[[View, list[Array], list[Array]], Array]
"""Values of a view at index arrays, and the loop indices of the iterations that load."""


@dataclass
class Frame:
    """The values of one run of a body: ``slots`` by number, the loop indices, and what ``memref.load`` does."""

    slots: list[Any]
    loops: list[Array]
    load: LoadElements | None


class Instruction(Protocol):
    def execute(self, frame: Frame, mask: Mask) -> None:
        """Run for the iterations in ``mask``."""
        ...


@dataclass(frozen=True)
class Scalar:
    """Apply ``function`` to the slots ``operands`` and keep what it returns in the slots ``results``."""

    name: str
    function: Callable[..., Any]
    operands: tuple[int, ...]
    results: tuple[int, ...]

    def execute(self, frame: Frame, mask: Mask) -> None:
        slots = frame.slots
        found = self.function(*[slots[slot] for slot in self.operands])
        if len(self.results) == 1:
            slots[self.results[0]] = found
        else:
            for slot, value in zip(self.results, found, strict=True):
                slots[slot] = value


@dataclass(frozen=True)
class Load:
    """``memref.load``: the elements of a view at computed indices."""

    view: int
    indices: tuple[int, ...]
    result: int

    def execute(self, frame: Frame, mask: Mask) -> None:
        assert frame.load is not None, "a body that loads runs on a tile"
        view, indices = frame.slots[self.view], [np.asarray(frame.slots[slot]) for slot in self.indices]
        if mask is None:
            frame.slots[self.result] = frame.load(view, indices, frame.loops)
            return
        shape = np.broadcast_shapes(mask.shape, *(x.shape for x in (*indices, *frame.loops)))
        where = np.broadcast_to(mask, shape)
        chosen, loops = ([np.broadcast_to(x, shape)[where] for x in group] for group in (indices, frame.loops))
        found = np.zeros(shape, view.allocation.dtype)
        found[where] = frame.load(view, chosen, loops)
        frame.slots[self.result] = found


@dataclass(frozen=True)
class Check:
    """``cf.assert``: an error unless the condition holds in every iteration that comes by."""

    condition: int
    message: str
    place: str

    def execute(self, frame: Frame, mask: Mask) -> None:
        fails = np.logical_not(frame.slots[self.condition])
        if np.any(fails if mask is None else fails & mask):
            raise RunError(f"{self.place}: {self.message}")


@dataclass(frozen=True)
class Code:
    """A block: slots of its arguments, its instructions, and the slots of what it yields."""

    arguments: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    yields: tuple[int, ...]

    def run(self, frame: Frame, mask: Mask, arguments: list[Any]) -> list[Any]:
        """The values that the block yields for the iterations in ``mask``."""
        for slot, value in zip(self.arguments, arguments, strict=True):
            frame.slots[slot] = value
        for instruction in self.instructions:
            instruction.execute(frame, mask)
        return [frame.slots[slot] for slot in self.yields]
