"""The number of rounds of the loop whose body is being traced."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

_ROUNDS: ContextVar[int | None] = ContextVar("rounds of a loop", default=None)


@contextmanager
def loop_of(count: Any) -> Iterator[None]:
    """In the block, the body of a loop of ``count`` rounds is traced; None where nobody knows."""
    known = tf.get_static_value(count) if tf.is_tensor(count) else count
    before = _ROUNDS.set(None if known is None else int(known))
    try:
        yield
    finally:
        _ROUNDS.reset(before)


def rounds_of_loop() -> int | None:
    """The rounds of the innermost loop that is being traced; None if nobody knows, or there is none."""
    return _ROUNDS.get()
