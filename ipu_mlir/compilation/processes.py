"""Tasks that run at the same time, each in a copy of this process."""

import multiprocessing
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from ipu_mlir.dialects.support.errors import CompileError, IpuError

Result = TypeVar("Result")


def processes_for(tasks: int, wanted: int | None = None) -> int:
    """The number of processes that ``tasks`` tasks take: ``wanted``, or one for each processor; 1 without forks.

    >>> processes_for(1, wanted=4), processes_for(0)
    (1, 1)
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return 1
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(tasks, processors if wanted is None else wanted))


def in_processes(tasks: Sequence[Callable[[], Result]], processes: int) -> Iterator[tuple[int, Result | IpuError]]:
    """The number of each task, and what it gives or the error that it raises, as soon as it ends.

    Each has a copy of this process as it is when the task begins, and nothing but its result comes back. It may only do
    what needs no thread of this process. If a copy dies, that is an error of its task. A single process is this one.

    Raises:
        Exception: the first that a task raises, if it is no ``IpuError``; no other task begins then.
    """
    if processes == 1:
        yield from ((number, _result_of(task)) for number, task in enumerate(tasks))
        return
    waiting = list(enumerate(tasks))[::-1]
    running: dict[object, tuple[int, Connection, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                number, task = waiting.pop()
                pipe, process = _begun(task)
                running[pipe] = number, pipe, process
            for ended in wait([pipe for _, pipe, _ in running.values()]):
                number, pipe, process = running.pop(ended)
                yield number, _received(pipe, process)
    finally:
        for _, pipe, process in running.values():
            process.kill()
            process.join()
            pipe.close()


def show_progress(text: str) -> None:
    """Show ``text`` in place of what was shown before, to people only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _begun(task: Callable[[], object]) -> tuple[Connection, BaseProcess]:
    context = multiprocessing.get_context("fork")
    pipe, end = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(task, end), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python and others warn of locks that threads may hold
        process.start()
    end.close()
    return pipe, process


def _run(task: Callable[[], object], end: Connection) -> None:
    try:
        end.send(_result_of(task))
    except Exception as error:
        error.add_note(traceback.format_exc())
        end.send(_Raised(error))


class _Raised:
    """An exception that ends all tasks."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _result_of(task: Callable[[], Result]) -> Result | IpuError:
    try:
        return task()
    except IpuError as error:
        return error


def _received(pipe: Connection, process: BaseProcess) -> Any:
    try:
        result = pipe.recv()
    except EOFError:
        process.join()
        code = process.exitcode or 0
        return CompileError(f"its process ended with {f'signal {-code}' if code < 0 else f'exit status {code}'}")
    finally:
        pipe.close()
    process.join()
    if isinstance(result, _Raised):
        raise result.error
    return result
