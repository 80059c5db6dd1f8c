"""Ctrl-C at the end of what runs."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, so that variables have the values of whole steps; a second does not.

    Only the main thread is interrupted.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    waiting: list[Any] = []

    def wait(number: int, frame: Any) -> None:
        if waiting:
            before(number, frame)
        waiting.append((number, frame))

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if len(waiting) == 1:
        before(*waiting[0])
