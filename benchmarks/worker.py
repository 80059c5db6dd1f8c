"""One contender on one workload, in a process of its own, so that memory and imports do not mix."""

import contextlib
import multiprocessing
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.contenders import CONTENDERS, Run, arrays_of
from benchmarks.process_memory import forget_peak, peak_bytes, resident_bytes
from benchmarks.workload import Array
from benchmarks.workloads import WORKLOADS

LONGEST_START_SECONDS = 300
LONGEST_ROUND_SECONDS = 120
MOST_RUNS = 2000


class WorkerFailed(Exception):
    """The process of a contender ended, hung, or raised; the message says why."""


@dataclass(frozen=True)
class Started:
    """What happened before the first round.

    Attributes:
        peak_growth_bytes: the most memory that compiling and the first run took beyond imports and inputs.
        results: of the first run.
    """

    import_seconds: float
    compile_seconds: float
    first_run_seconds: float
    peak_growth_bytes: int | None
    results: list[Array]


class Worker:
    """The parent's end of such a process.

    Attributes:
        started: what happened before the first round.
    """

    def __init__(self, workload: str, contender: str, smoke: bool) -> None:
        """Start the process; raises WorkerFailed if it does not come as far as the first result."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, workload, contender, smoke), daemon=True)
        self._process.start()
        theirs.close()
        self.started: Started = self._receive(LONGEST_START_SECONDS)

    def round(self, seconds: float) -> list[float]:
        """The seconds of each run: as many as fit into ``seconds``, at least three."""
        with contextlib.suppress(OSError):  # a process that has ended shows when it does not answer
            self._pipe.send(seconds)
        return self._receive(seconds + LONGEST_ROUND_SECONDS)

    def stop(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(timeout=5)
        self._process.kill()

    def _receive(self, timeout: float) -> Any:
        try:
            answer = self._pipe.recv() if self._pipe.poll(timeout) else f"no answer within {timeout:.0f} s"
        except (EOFError, OSError):
            self._process.join()
            answer = f"the process ended with status {self._process.exitcode}"
        if isinstance(answer, str):
            self.stop()
            raise WorkerFailed(answer)
        return answer


def _work(pipe: Connection, workload_name: str, contender_name: str, smoke: bool) -> None:
    """The process: start, then a round for each number that comes through ``pipe``. A text goes back if it fails."""
    try:
        started, run = _start(workload_name, contender_name, smoke)
        pipe.send(started)
        del started
        while True:
            pipe.send(_round(run, seconds=pipe.recv()))
    except EOFError:
        return
    except Exception as error:
        traceback.print_exc()
        pipe.send(f"{type(error).__name__}: {error}")


def _start(workload_name: str, contender_name: str, smoke: bool) -> tuple[Started, Run]:
    workload, contender = WORKLOADS[workload_name], CONTENDERS[contender_name]
    workload = workload.smoke() if smoke else workload
    import_seconds, _ = _timed(contender.load)
    inputs = workload.inputs()
    forget_peak()
    before = resident_bytes()
    compile_seconds, run = _timed(lambda: contender.compile(workload, inputs))
    first_run_seconds, results = _timed(run)
    peak = peak_bytes()
    growth = None if peak is None or before is None else max(0, peak - before)
    return Started(import_seconds, compile_seconds, first_run_seconds, growth, arrays_of(results)), run


def _timed(action: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = action()
    return time.perf_counter() - begin, result


def _round(run: Run, seconds: float) -> list[float]:
    run()  # wakes caches and threads after the others ran
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < end and len(times) < MOST_RUNS):
        times.append(_timed(run)[0])
    return times
