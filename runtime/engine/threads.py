"""Block loops on several threads: each draws the next block from one iterator until none is left."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

from ipu_mlir.runtime.engine.numpy_state import prepare_numpy


class _Task:
    """Work for a helper; whoever takes the only turn decides whether it is done."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work, self._turn = work, [True]
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()

    def _is_taken(self) -> bool:
        """True if somebody was here before; list.pop() is atomic under the interpreter's lock."""
        try:
            return not self._turn.pop()
        except IndexError:
            return True

    def run(self) -> None:
        """Do it, if nobody has called it off."""
        if self._is_taken():
            return
        try:
            self._work()
            self._done.put(None)
        except BaseException as error:  # handed to the caller
            self._done.put(error)

    def end(self) -> BaseException | None:
        """Call it off if it has not begun, as on a machine full of other work; else wait, and give its exception."""
        return self._done.get() if self._is_taken() else None


class _Helper:
    """A thread that waits for work, for ever; it does not keep the process alive."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        threading.Thread(target=self._serve, name="ipu-mlir block helper", daemon=True).start()

    def _serve(self) -> None:
        prepare_numpy()
        while True:
            task = self._tasks.get()
            task.run()
            del task

    def submit(self, work: Callable[[], None]) -> _Task:
        """Start ``work`` soon."""
        task = _Task(work)
        self._tasks.put(task)
        return task


_idle: list[_Helper] = []
if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_idle.clear)


def run_blocks(
    blocks: Sequence[Callable[..., None]],
    units: int,
    size: int,
    arrays: tuple[Any, ...],
    starts: Sequence[int] | None = None,
) -> None:
    """Call ``blocks[t](lo, hi, *arrays)`` on thread ``t`` for pieces of ``size`` units until 0 .. ``units`` is done.

    ``starts`` are where pieces begin, in the order in which threads take them; from 0 on without it.
    Raises whatever a block raises, after all threads have stopped.
    """
    pieces = iter(range(0, units, size) if starts is None else starts)
    if len(blocks) == 1 or units <= size:
        _draw(blocks[0], pieces, units, size, arrays)
        return
    helpers = [_take_helper() for _ in blocks[1:]]
    waiting = [
        helper.submit(lambda block=block: _draw(block, pieces, units, size, arrays))
        for helper, block in zip(helpers, blocks[1:], strict=True)
    ]
    errors = []
    try:
        _draw(blocks[0], pieces, units, size, arrays)
    finally:
        errors = [error for error in (task.end() for task in waiting) if error is not None]
        _idle.extend(helpers)
    if errors:
        raise errors[0]


def _draw(block: Callable[..., None], pieces: Iterator[int], units: int, size: int, arrays: tuple[Any, ...]) -> None:
    for lo in pieces:  # next() on an iterator of a range or a list is atomic under the interpreter's lock
        block(lo, min(lo + size, units), *arrays)


def _take_helper() -> _Helper:
    try:
        return _idle.pop()
    except IndexError:
        return _Helper()
