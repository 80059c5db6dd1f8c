"""Queues from the host to running programs, with a thread that prefetches."""

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.elements import Element, Statistics, element_bytes, hand_out
from ipu_mlir.runtime.engine.inputs import as_expected, is_as_expected
from ipu_mlir.runtime.engine.turns import Turn, serving
from ipu_mlir.runtime.translator.translation import Stream


class _Prefetched:
    """Elements that a thread has fetched and nobody has taken, in arrays that are used again.

    The thread knows this object and nothing of the queue, which closes it when it is dropped itself.

    Attributes:
        turn: of the runs that take elements; None until one does.
        who: its iterator, in messages.
    """

    def __init__(self, stream: Stream, source: Callable[[], Iterator[Element]], number: int, turn: Turn | None) -> None:
        self.turn, self.who = turn, f"the iterator of infeed {stream.name!r}"
        self.changed = threading.Condition()
        self.ready: deque[list[np.ndarray] | BaseException] = deque()
        self.is_running = self.is_closed = self.has_ended = False
        self._stream, self._number = stream, number
        self._free: list[list[np.ndarray]] = []
        self._most = stream.depth * stream.replicas
        with serving(self):
            self._elements = source()
        _ALL.add(self)

    def in_child(self) -> None:
        """Go on without the thread, which a fork does not have."""
        self.changed, self.is_running = threading.Condition(), False

    def start(self) -> None:
        """Fetch in a thread, if none does and there may be more."""
        if not (self.is_running or self.has_ended or self.is_closed):
            threading.Thread(target=self._fetch, name=f"infeed {self._stream.name}", daemon=True).start()
            self.is_running = True  # whoever starts it holds ``changed``, and it ends under that

    def give_back(self, arrays: list[np.ndarray]) -> None:
        """Let ``arrays`` hold another element."""
        self._free.append(arrays)

    def close(self) -> None:
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()

    def _fetch(self) -> None:
        found: list[np.ndarray] | BaseException
        try:
            with serving(self):
                while self._has_room():
                    found = self._held(next(self._elements))
                    self._add(found)
        except StopIteration:
            self.has_ended = True
        except BaseException as error:  # of the user's iterator: it belongs to who asks for the element
            self._add(error)
        with self.changed:
            self.is_running = False
            self.changed.notify_all()

    def is_low(self) -> bool:
        """True if it is time to fetch more: seldom, for waking a thread costs more than fetching."""
        return 2 * len(self.ready) <= self._most

    def _has_room(self) -> bool:
        """Wait for room, once there is none until half of it is free; False when nobody wants more."""
        with self.changed:
            if len(self.ready) >= self._most:
                while not (self.is_low() or self.is_closed):
                    self.changed.wait()
            return not self.is_closed

    def _add(self, found: list[np.ndarray] | BaseException) -> None:
        with self.changed:
            self.ready.append(found)
            self.changed.notify_all()

    def _held(self, element: Element) -> list[np.ndarray]:
        """A copy of ``element``: the iterator may use its arrays again."""
        number, specs = self._number, self._stream.specs
        self._number += 1
        if not is_as_expected(element, specs):  # usually it is, and nobody reads what the error would say
            where = f"element {number} of infeed {self._stream.name!r}"
            if len(element) != len(specs):
                raise RunError(f"{where} has {len(element)} tensors, expected {len(specs)}")
            pairs = zip(element, specs, strict=True)
            element = [as_expected(each, spec, f"{spec.name}, {where},") for each, spec in pairs]
        try:
            arrays = self._free.pop()
        except IndexError:
            arrays = [np.empty(spec.shape, spec.dtype) for spec in specs]
        for array, value in zip(arrays, element, strict=True):
            array[...] = value
        return arrays


_ALL: weakref.WeakSet[_Prefetched] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: [each.in_child() for each in _ALL])


class Infeed:
    """Elements for the program, in order; the position is kept from run to run.

    What the user's iterator raises reaches who asks for that element; the next one is asked for again afterwards.
    """

    def __init__(self, stream: Stream, source: Callable[[], Iterator[Element]] | None) -> None:
        """Fetch from what ``source`` gives, which is called once for each time that the queue begins."""
        self.stream, self._source = stream, source
        self._taken: list[list[np.ndarray]] = []
        """The current element, of each replica in turn; fewer while it is being taken."""
        self._elements = 0
        self._waited = 0.0
        self._prefetched: _Prefetched | None = None
        self._finalizer: Any = None

    def restart(self) -> None:
        """Begin again with the first element; what was fetched is dropped."""
        if self._finalizer is not None:
            self._finalizer()
        self._prefetched, self._taken = None, []

    def take(self, turn: Turn | None = None) -> None:
        """Make the next element the current one, or the next one of each replica; wait until there is one.

        What replicas have taken when an error ends that is theirs when the program asks again.

        Args:
            turn: that the run holds which waits.

        Raises:
            RunError: the queue has no source, has ended, or the element is not what the program takes. Anything that
                the user's iterator raises.
        """
        queue = self._prefetched or self._begin(turn)
        queue.turn = turn
        if len(self._taken) == self.stream.replicas:
            for arrays in self._taken:
                queue.give_back(arrays)
            self._taken = []
        while len(self._taken) < self.stream.replicas:
            self._taken.append(self._next(queue))
            self._elements += 1

    def _next(self, queue: _Prefetched) -> list[np.ndarray]:
        with queue.changed:
            if not queue.ready:
                begun = time.perf_counter()
                queue.start()
                while not queue.ready and queue.is_running:
                    queue.changed.wait()
                self._waited += time.perf_counter() - begun
            if not queue.ready:
                raise RunError(
                    f"infeed {self.stream.name!r} has ended after {self._elements} elements, and the program asks for "
                    "another one; give it more, or let it begin again with restart"
                )
            found = queue.ready.popleft()
            if queue.is_low():
                queue.start()
                queue.changed.notify_all()
        if isinstance(found, BaseException):
            raise found
        return found

    def next_element(self) -> list[np.ndarray]:
        """The next element for the host itself, which no program gets. Raises as ``take``."""
        found = self._next(self._prefetched or self._begin(None))
        self._elements += 1
        return found

    def hand_out(self, index: int, out: np.ndarray) -> None:
        """Write a tensor of the current element to ``out``; for several replicas that has one row for each."""
        assert self._taken, "an element is taken before its tensors"
        hand_out(self._taken, index, out)

    def statistics(self) -> Statistics:
        """Counts of what it has done so far."""
        return Statistics(self._elements, self._elements * element_bytes(self.stream.specs), self._waited)

    def _begin(self, turn: Turn | None) -> _Prefetched:
        if self._source is None:
            name = self.stream.name
            raise RunError(f"infeed {name!r} has no source; give it one with session.feed({name!r}, ...)")
        self._prefetched = queue = _Prefetched(self.stream, self._source, self._elements, turn)
        self._finalizer = weakref.finalize(self, queue.close)
        return queue


class SyntheticInfeed(Infeed):
    """Zeros, as often as the program asks: what it takes without the host."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream, None)
        self._zeros = [np.zeros(spec.shape, spec.dtype) for spec in stream.specs]

    def restart(self) -> None:
        pass

    def take(self, turn: Turn | None = None) -> None:
        self._taken = [self._zeros] * self.stream.replicas
        self._elements += self.stream.replicas
