"""``scf`` in scalar bodies: every iteration goes its own way, all of them at once under masks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.vertices.instructions import Code, Frame, Mask

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Branch:
    """``scf.if`` and ``scf.index_switch``: each iteration takes one of several blocks.

    Attributes:
        choose: from the selector, which iterations take each block; every iteration takes one of them.
        dtypes: of the results.
    """

    selector: int
    choose: Callable[[Array], list[Array]]
    blocks: tuple[Code, ...]
    results: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]

    def execute(self, frame: Frame, mask: Mask) -> None:
        merged: list[Any] = [np.zeros((), dtype) for dtype in self.dtypes]
        for chosen, block in zip(self.choose(np.asarray(frame.slots[self.selector])), self.blocks, strict=True):
            taken = _and(mask, chosen)
            if np.any(taken):
                merged = _merge(taken, block.run(frame, _simplified(taken), []), merged)
        _assign(frame, self.results, merged)


@dataclass(frozen=True)
class ForLoop:
    """``scf.for``: each iteration has its own bounds and goes round as often as they say."""

    bounds: tuple[int, int, int]
    initial: tuple[int, ...]
    block: Code
    results: tuple[int, ...]
    compare: Callable[[Any, Any], Array]
    place: str

    def execute(self, frame: Frame, mask: Mask) -> None:
        at, end, step = (frame.slots[slot] for slot in self.bounds)
        if np.any(_and(mask, np.less_equal(step, 0))):
            raise RunError(f"{self.place}: the loop has a step of {np.min(step)}; it must be positive")
        carried = [frame.slots[slot] for slot in self.initial]
        while np.any(going := _and(mask, self.compare(at, end))):
            carried = _merge(going, self.block.run(frame, _simplified(going), [at, *carried]), carried)
            at = at + step
        _assign(frame, self.results, carried)


@dataclass(frozen=True)
class WhileLoop:
    """``scf.while``: ``before`` yields a condition and values; while it holds, ``after`` makes new ones of them."""

    initial: tuple[int, ...]
    before: Code
    after: Code
    results: tuple[int, ...]

    def execute(self, frame: Frame, mask: Mask) -> None:
        carried, going = [frame.slots[slot] for slot in self.initial], mask
        condition, *found = self.before.run(frame, going, carried)
        while np.any(going := _and(going, condition)):
            inside = _simplified(going)
            carried = _merge(going, self.after.run(frame, inside, found), carried)
            condition, *new = self.before.run(frame, inside, carried)
            found = _merge(going, new, found)
        _assign(frame, self.results, found)


def _and(mask: Mask, condition: Any) -> Array:
    return np.asarray(condition) if mask is None else np.asarray(mask & condition)


def _simplified(mask: Array) -> Mask:
    return None if mask.all() else mask


def _merge(mask: Array, new: list[Any], old: list[Any]) -> list[Any]:
    """The new values in the iterations of ``mask``, the old ones elsewhere."""
    return new if mask.all() else [np.where(mask, yes, no) for yes, no in zip(new, old, strict=True)]


def _assign(frame: Frame, slots: tuple[int, ...], values: list[Any]) -> None:
    for slot, value in zip(slots, values, strict=True):
        frame.slots[slot] = value
