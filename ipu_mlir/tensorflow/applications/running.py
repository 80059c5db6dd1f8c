"""An application that runs in a thread of its own, and waits for batches."""

import threading
import weakref
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.infeeds import Infeed
from ipu_mlir.runtime.engine.inputs import as_expected
from ipu_mlir.runtime.engine.outfeeds import Outfeed
from ipu_mlir.runtime.engine.state import State
from ipu_mlir.runtime.engine.turns import Turn
from ipu_mlir.runtime.translator.translation import Stream
from ipu_mlir.tensorflow.applications.saved import Application
from ipu_mlir.tensorflow.custom_calls import as_tensorflow_has_it


class _Stopped(Exception):
    """Nobody has the application any more."""


class _Requests:
    """Batches that wait for the program, and those that are in it."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._changed = threading.Condition()
        self._waiting: deque[tuple[list[np.ndarray], Future[list[np.ndarray]]]] = deque()
        self._inside: deque[Future[list[np.ndarray]] | None] = deque()
        """Who waits for the next results of the program; None for those that nobody wants."""
        self._end: BaseException | None = None

    def add(self, batch: list[np.ndarray]) -> Future[list[np.ndarray]]:
        """Let the program have ``batch``; its results are in what this gives."""
        made: Future[list[np.ndarray]] = Future()
        with self._changed:
            if self._end is not None:
                raise RunError(f"the application has ended: {self._end}") from self._end
            self._waiting.append((batch, made))
            self._changed.notify_all()
        return made

    def next_batch(self) -> list[np.ndarray] | None:
        """The next batch, or None to go on without one.

        A program that passes batches on from stage to stage gives the results of one when it gets others. Where
        somebody waits for some, and no batch has come for a while, it goes on without.
        """
        with self._changed:
            wanted = any(each is not None for each in self._inside)
            self._changed.wait_for(lambda: self._waiting or self._end, self._timeout if wanted else None)
            if self._end is not None:
                raise self._end
            batch, future = self._waiting.popleft() if self._waiting else (None, None)
            self._inside.append(future)
            return batch

    def finish(self, results: list[np.ndarray]) -> None:
        with self._changed:
            future = self._inside.popleft()
        if future is not None:
            future.set_result(results)

    def end(self, reason: BaseException) -> None:
        """Tell all who wait that there will be no results."""
        with self._changed:
            self._end = self._end or reason
            left = [*self._inside, *(future for _, future in self._waiting)]
            self._inside.clear()
            self._waiting.clear()
            self._changed.notify_all()
        for each in left:
            if each is not None:
                each.set_exception(reason)


class _Batches(Infeed):
    def __init__(self, stream: Stream, requests: _Requests) -> None:
        super().__init__(stream, None)
        self._requests = requests
        self._zeros = [np.zeros(spec.shape, spec.dtype) for spec in stream.specs]

    def take(self, turn: Turn | None = None) -> None:
        self._taken = [self._requests.next_batch() or self._zeros]
        self._elements += 1


class _Results(Outfeed):
    def __init__(self, stream: Stream, requests: _Requests) -> None:
        super().__init__(stream)
        self._requests = requests

    def deliver(self) -> None:
        self._elements += 1
        self._requests.finish([each.copy() for each in self._pending])


class Running:
    """An application that has started; dropped, it ends.

    Attributes:
        application: what runs.
    """

    def __init__(self, application: Application, startup: Sequence[np.ndarray], timeout: float) -> None:
        """Start it, as often as there are batches: a program that has taken all that it counts begins again.

        Args:
            startup: what the start gives, in order.
            timeout: seconds after which it goes on without a batch where results wait for others.

        Raises:
            ValueError: it has not one infeed and one outfeed.
        """
        if len(application.batches) != 1 or len(application.results) != 1:
            raise ValueError(
                f"the application has {len(application.batches)} infeeds and {len(application.results)} outfeeds; one "
                "of each is needed to call it"
            )
        self.application = application
        engine = application.executable.engine
        state = State(engine.variables, queues=engine.queues, remote=engine.remote)
        count = len(application.arguments)
        own = {str(spec.name): value for spec, value in zip(application.variables, startup[count:], strict=True)}
        state.give(application.values | own)
        self._requests = requests = _Requests(timeout)
        for name, queue in state.streams.infeeds.items():
            state.streams.infeeds[name] = _Batches(queue.stream, requests)
            self._taken = queue.stream.specs
        for name, drain in state.streams.outfeeds.items():
            state.streams.outfeeds[name] = _Results(drain.stream, requests)
        arguments = [*startup[:count], *application.constants]

        def run() -> None:
            try:
                with state.turn:
                    while True:
                        engine.run(arguments, state)
            except BaseException as error:  # it belongs to who calls
                requests.end(error)

        threading.Thread(target=run, name="application", daemon=True).start()
        weakref.finalize(self, requests.end, _Stopped("it was dropped"))

    def call(self, batch: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of ``batch``.

        Raises:
            RunError: the program has ended with an error. Anything that ends it.
        """
        pairs = zip(batch, self._taken, strict=True)
        arrays = [as_expected(each, spec, spec.name) for each, spec in pairs]
        found = self._requests.add(arrays).result()
        (wanted,) = self.application.results.values()
        return [
            as_tensorflow_has_it(each, np.dtype(spec.dtype.as_numpy_dtype))
            for each, spec in zip(found, wanted, strict=True)
        ]
