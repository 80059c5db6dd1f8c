"""Queues from running programs to the host, with a limit."""

import threading
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.elements import Statistics, element_bytes
from ipu_mlir.runtime.translator.translation import Stream

MOST_BYTES = 1 << 30
"""Of elements in an outfeed that nobody has read."""


class Outfeed:
    """Elements from the program, which the host may read while it runs: all of them, or the last one.

    A queue that nobody reads refuses more than ``most_bytes``.
    """

    def __init__(self, stream: Stream, most_bytes: int = MOST_BYTES) -> None:
        self.stream, self._most_bytes = stream, most_bytes
        self._lock = threading.Lock()
        leading = () if stream.replicas == 1 else (stream.replicas,)
        self._pending = [np.empty((*leading, *spec.shape), spec.dtype) for spec in stream.specs]
        self._kept = self._nothing()
        self._count = self._elements = 0

    def put(self, index: int, value: Any) -> None:
        """Let ``value`` be tensor number ``index`` of the next element: of each replica, or one for all of them."""
        self._pending[index][...] = value

    def deliver(self) -> None:
        """Make what was put an element.

        Raises:
            RunError: too many wait that nobody has read.
        """
        with self._lock:
            place = 0 if self.stream.mode == "last" else self._count
            if place == len(self._kept[0]):
                self._grow()
            for kept, pending in zip(self._kept, self._pending, strict=True):
                kept[place] = pending
            self._count = place + 1
            self._elements += 1

    def read(self) -> list[np.ndarray]:
        """The elements that are there now: tensors with one more dimension in front, and they are gone; or the last.

        Raises:
            RunError: there is no last one yet.
        """
        with self._lock:
            if self.stream.mode == "last":
                if not self._count:
                    raise RunError(
                        f"outfeed {self.stream.name!r} has no last element: no run has handed one over; run a program "
                        "that does"
                    )
                return [kept[0].copy() for kept in self._kept]
            found, count = self._kept, self._count
            self._kept, self._count = self._nothing(), 0
        return [kept[:count] if 2 * count > len(kept) else kept[:count].copy() for kept in found]

    def statistics(self) -> Statistics:
        """Counts of what it has done so far."""
        return Statistics(self._elements, self._elements * self._bytes_each, 0.0)

    @property
    def _bytes_each(self) -> int:
        return element_bytes(self.stream.specs) * self.stream.replicas

    def _nothing(self) -> list[np.ndarray]:
        return [np.empty((0, *pending.shape), pending.dtype) for pending in self._pending]

    def _grow(self) -> None:
        each, count = max(1, self._bytes_each), len(self._kept[0])
        most = max(1, self._most_bytes // each)
        if count >= most:
            raise RunError(
                f"outfeed {self.stream.name!r} holds {count:,} elements of {each:,} B that nobody has read, and takes "
                "no more; read it while the program runs, or use mode 'last'"
            )
        larger = min(most, max(8, 2 * count))
        grown = [np.empty((larger, *kept.shape[1:]), kept.dtype) for kept in self._kept]
        for new, kept in zip(grown, self._kept, strict=True):
            new[:count] = kept
        self._kept = grown


class SyntheticOutfeed(Outfeed):
    """Takes everything and keeps nothing."""

    def put(self, index: int, value: Any) -> None:
        pass

    def deliver(self) -> None:
        self._elements += 1
