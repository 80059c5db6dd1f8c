"""Queues between the host and running programs: infeeds with a thread that prefetches, outfeeds with a limit."""

import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.text import printable
from ipu_mlir.runtime.engine.host_functions import HostFunction
from ipu_mlir.runtime.engine.inputs import as_expected, is_as_expected
from ipu_mlir.runtime.translator.translate import ArraySpec, Stream

Element = Sequence[Any]
"""The tensors of an element, in the order of the queue's types."""

MOST_BYTES = 1 << 30
"""Of elements in an outfeed that nobody has read."""


@dataclass(frozen=True)
class Statistics:
    """What a queue has done so far.

    Attributes:
        elements: handed over to the program, or by it.
        bytes: of those elements.
        seconds_waited: how long the program waited for elements of an infeed.
    """

    elements: int
    bytes: int
    seconds_waited: float


class _Prefetched:
    """Elements that a thread has fetched and nobody has taken, in arrays that are used again.

    The thread knows this object and nothing of the queue, which closes it when it is dropped itself.
    """

    def __init__(self, stream: Stream, elements: Iterator[Element], number: int) -> None:
        self.changed = threading.Condition()
        self.ready: deque[list[np.ndarray] | BaseException] = deque()
        self.is_running = self.is_closed = self.has_ended = False
        self._stream, self._elements, self._number = stream, elements, number
        self._free: list[list[np.ndarray]] = []
        self._most = stream.depth * stream.replicas

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

    def take(self) -> None:
        """Make the next element the current one, or the next one of each replica; wait until there is one.

        What replicas have taken when an error ends that is theirs when the program asks again.

        Raises:
            RunError: the queue has no source, has ended, or the element is not what the program takes. Anything that
                the user's iterator raises.
        """
        queue = self._prefetched or self._begin()
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
        found = self._next(self._prefetched or self._begin())
        self._elements += 1
        return found

    def hand_out(self, index: int, out: np.ndarray) -> None:
        """Write a tensor of the current element to ``out``; for several replicas that has one row for each."""
        assert self._taken, "an element is taken before its tensors"
        if self.stream.replicas == 1:
            np.copyto(out, self._taken[0][index], "unsafe")
            return
        for replica, arrays in enumerate(self._taken):
            np.copyto(out[replica, ...], arrays[index], "unsafe")

    def statistics(self) -> Statistics:
        """Counts of what it has done so far."""
        return Statistics(self._elements, self._elements * _bytes(self.stream.specs), self._waited)

    def _begin(self) -> _Prefetched:
        if self._source is None:
            name = self.stream.name
            raise RunError(f"infeed {name!r} has no source; give it one with session.feed({name!r}, ...)")
        self._prefetched = queue = _Prefetched(self.stream, self._source(), self._elements)
        self._finalizer = weakref.finalize(self, queue.close)
        return queue


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

    def hand_over(self) -> None:
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
        return _bytes(self.stream.specs) * self.stream.replicas

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


class SyntheticInfeed(Infeed):
    """Zeros, as often as the program asks: what it takes without the host."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream, None)
        self._zeros = [np.zeros(spec.shape, spec.dtype) for spec in stream.specs]

    def restart(self) -> None:
        pass

    def take(self) -> None:
        self._taken = [self._zeros] * self.stream.replicas
        self._elements += self.stream.replicas


class SyntheticOutfeed(Outfeed):
    """Takes everything and keeps nothing."""

    def put(self, index: int, value: Any) -> None:
        pass

    def hand_over(self) -> None:
        self._elements += 1


def _bytes(specs: Sequence[ArraySpec]) -> int:
    return sum(int(np.prod(spec.shape)) * spec.dtype.itemsize for spec in specs)


class Streams:
    """The host of one session, as running programs see it.

    Attributes:
        is_quiet: whether nothing is printed.
    """

    def __init__(self) -> None:
        self.infeeds: dict[str, Infeed] = {}
        self.outfeeds: dict[str, Outfeed] = {}
        self.functions: dict[str, HostFunction] = {}
        self.is_quiet = False

    def synthetic(self) -> "Streams":
        """The same ones without the host: infeeds and functions give zeros, and outfeeds keep nothing."""
        made = Streams()
        made.infeeds = {name: SyntheticInfeed(each.stream) for name, each in self.infeeds.items()}
        made.outfeeds = {name: SyntheticOutfeed(each.stream) for name, each in self.outfeeds.items()}
        made.functions = {name: each.synthetic() for name, each in self.functions.items()}
        return made

    def dequeue(self, name: str) -> None:
        """Take the next element of an infeed."""
        self.infeeds[name].take()

    def receive(self, name: str, index: int, out: np.ndarray) -> None:
        """Write a tensor of the current element to ``out``."""
        (self.infeeds.get(name) or self.functions[name]).hand_out(index, out)

    def put(self, name: str, index: int, value: Any) -> None:
        """Let ``value`` be part of the next element of an outfeed, or an argument of a function."""
        (self.outfeeds.get(name) or self.functions[name]).put(index, value)

    def enqueue(self, name: str) -> None:
        """Hand over what was put."""
        self.outfeeds[name].hand_over()

    def host_call(self, name: str) -> None:
        """Call a function with what was put."""
        self.functions[name].call()

    def print(self, label: str, is_unsigned: int, value: Any) -> None:
        """Show ``value`` after its label, in one line on standard error; of many elements, the first and last ones."""
        if not self.is_quiet:
            array = np.asarray(value)
            numbers = array.view(f"u{array.dtype.itemsize}") if is_unsigned else array
            shown = " ".join(np.array2string(numbers, threshold=100).split()).replace("[ ", "[")
            print(f"{printable(label)}: {shown}", file=sys.stderr, flush=True)
