"""Turns: threads that run programs on one state, or look at it, do so one after the other.

A run holds the turn to its end. Code of the user that a run waits for, such as the iterator of an infeed, would wait
for that end in vain if it asked for the turn: it gets an error instead.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

from ipu_mlir.dialects.support.errors import RunError


class Server(Protocol):
    """Code of the user that runs wait for.

    Attributes:
        turn: which those runs hold; None while it is not known.
        who: a name for messages.
    """

    turn: "Turn | None"
    who: str


class _Serving(threading.local):
    server: Server | None = None


_serving = _Serving()


class Turn:
    """A lock that one thread may take again.

    Attributes:
        session: a name for messages of the session that it belongs to.
    """

    def __init__(self, session: str = "its session") -> None:
        self._lock = threading.RLock()
        self.session = session

    def __enter__(self) -> None:
        """Wait for the turn.

        Raises:
            RunError: a run that holds it waits for this thread.
        """
        server = _serving.server
        if server is not None and server.turn is self:
            raise RunError(
                f"{server.who} uses {self.session}, whose runs wait for it: one would wait for the other; take the "
                "values that it needs out of the session before the run, or send them through the program"
            )
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let the next thread have it."""
        self._lock.release()


@contextmanager
def serving(server: Server) -> Iterator[None]:
    """During the block, this thread executes ``server``."""
    before, _serving.server = _serving.server, server
    try:
        yield
    finally:
        _serving.server = before
