"""Hooks of sessions (guide 21.13.4)."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow.ipu.ipu_outfeed_queue import IPUOutfeedMode, IPUOutfeedQueue


class IPULoggingTensorHook(tf.compat.v1.train.SessionRunHook):
    """Logs tensors from inside of a program, at the level INFO of TensorFlow's logger."""

    LoggingMode = IPUOutfeedMode

    def __init__(
        self,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[str, Any]], str] | None = None,
        logging_mode: IPUOutfeedMode = IPUOutfeedMode.LAST,
    ) -> None:
        """Make a hook for sessions.

        Args:
            every_n_iter: log after as many runs.
            every_n_secs: or after as many seconds.
            at_end: log when the session ends; then no period is needed.
            formatter: makes a line of the values by name.
            logging_mode: the last values since the line before, or all of them.

        Raises:
            ValueError: not exactly one period is given, or it is not above 0.
        """
        periods = [each for each in (every_n_iter, every_n_secs) if each is not None]
        if len(periods) > 1 or not (periods or at_end):
            raise ValueError("exactly one of every_n_iter and every_n_secs must be given; or neither, with at_end=True")
        if any(each <= 0 for each in periods):
            raise ValueError(f"a period must be above 0, got {periods[0]}")
        self._runs, self._seconds, self._at_end = every_n_iter, every_n_secs, at_end
        self._formatter = formatter
        self._queue = IPUOutfeedQueue(logging_mode)
        self._queue._drain.ordinal = None  # of whatever program it logs
        self._count, self._logged = 0, 0.0

    def log(self, tensors: Any) -> Any:
        """An operation in a program that logs a tensor, a list, a tuple or a dict of them."""
        if not isinstance(tensors, dict):
            leaves = tensors if isinstance(tensors, list | tuple) else [tensors]
            tensors = {each.name: each for each in leaves}
        return self._queue.enqueue(tensors)

    def begin(self) -> None:
        """A session begins."""
        self._count, self._logged = 0, time.monotonic()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """A run of the session has ended."""
        self._count += 1
        now = time.monotonic()
        if (self._runs and self._count % self._runs == 0) or (self._seconds and now - self._logged >= self._seconds):
            self._logged = now
            self._write()

    def end(self, session: Any) -> None:
        """The session ends."""
        if self._at_end:
            self._write()

    def _write(self) -> None:
        drain = self._queue._drain
        values = dict(zip(sorted(drain.form), drain.read(), strict=True)) if drain.form is not None else {}
        if not values or any(np.size(each) == 0 for each in values.values()):
            return
        text = self._formatter(values) if self._formatter else ", ".join(f"{name} = {v}" for name, v in values.items())
        tf.get_logger().info(text)
