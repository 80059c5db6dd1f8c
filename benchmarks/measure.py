"""Contenders on one workload, in turn, so that a noisy machine hits all of them alike."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from benchmarks.contenders import CONTENDERS
from benchmarks.worker import Worker, WorkerFailed
from benchmarks.workload import Array
from benchmarks.workloads import WORKLOADS

BASELINE = "numpy"
NOT_INSTALLED = "not installed"


@dataclass(frozen=True)
class Measurement:
    """One contender on one workload.

    Attributes:
        problem: why there are no times; then all that follows is empty.
        right: whether the results of the first run are those of the hand-written NumPy.
        round_medians: seconds of a run, the median of each round.
        best: seconds of the fastest run of all.
        runs: timed runs of all rounds together.
        ratios: of each round, how often as fast as the baseline in the same round.
        best_ratio: fastest run of the baseline over the fastest run.
    """

    workload: str
    contender: str
    problem: str = ""
    right: bool = False
    import_seconds: float = 0.0
    compile_seconds: float = 0.0
    first_run_seconds: float = 0.0
    peak_growth_bytes: int | None = None
    round_medians: tuple[float, ...] = ()
    best: float = 0.0
    runs: int = 0
    ratios: tuple[float, ...] = ()
    best_ratio: float | None = None

    @property
    def failed(self) -> bool:
        """Whether it ended early or gave wrong results; a contender that is not installed did not fail."""
        return self.problem not in ("", NOT_INSTALLED) or (self.problem == "" and not self.right)

    def plain(self) -> dict[str, Any]:
        """As JSON takes it, with the medians that the table shows."""
        medians = {"median": median(self.round_medians)} if self.round_medians else {}
        ratio = {"ratio": median(self.ratios)} if self.ratios else {}
        return {**asdict(self), **medians, **ratio}


def measure(
    workload: str, contenders: Sequence[str], rounds: int, seconds: float, smoke: bool = False
) -> list[Measurement]:
    """Run ``contenders`` on ``workload`` in turn, ``rounds`` times for ``seconds`` each."""
    expected = _expected(workload, smoke)
    done: dict[str, Measurement] = {}
    workers: dict[str, Worker] = {}
    times: dict[str, list[list[float]]] = {name: [] for name in contenders}
    try:
        for name in contenders:
            done[name], worker = _start(workload, name, smoke, expected)
            if worker is not None:
                workers[name] = worker
        for _ in range(rounds):
            for name, worker in list(workers.items()):
                try:
                    times[name].append(worker.round(seconds))
                except WorkerFailed as failure:
                    done[name] = Measurement(workload, name, problem=str(failure))
                    times[name].clear()
                    del workers[name]
    finally:
        for worker in workers.values():
            worker.stop()
    return [with_times(done[name], times[name], times.get(BASELINE, [])) for name in contenders]


def _start(workload: str, contender: str, smoke: bool, expected: list[Array]) -> tuple[Measurement, Worker | None]:
    """What there is to say before the first round, and the process for the rounds, unless it failed."""
    measurement = Measurement(workload, contender)
    if not CONTENDERS[contender].is_installed:
        return replace(measurement, problem=NOT_INSTALLED), None
    try:
        worker = Worker(workload, contender, smoke)
    except WorkerFailed as failure:
        return replace(measurement, problem=str(failure)), None
    started = worker.started
    right = WORKLOADS[workload].is_right(started.results, expected)
    started.results.clear()  # they may be large
    return replace(
        measurement,
        right=right,
        import_seconds=started.import_seconds,
        compile_seconds=started.compile_seconds,
        first_run_seconds=started.first_run_seconds,
        peak_growth_bytes=started.peak_growth_bytes,
    ), worker


def _expected(workload: str, smoke: bool) -> list[Array]:
    """The results of the hand-written NumPy."""
    chosen = WORKLOADS[workload].smoke() if smoke else WORKLOADS[workload]
    return list(chosen.numpy_form(*chosen.inputs()))


def with_times(
    measurement: Measurement, times: Sequence[Sequence[float]], baseline: Sequence[Sequence[float]]
) -> Measurement:
    """``measurement`` with the times of its rounds, beside those of the baseline in the same rounds."""
    if not times:
        return measurement
    medians = tuple(median(each) for each in times)
    best = min(min(each) for each in times)
    return replace(
        measurement,
        round_medians=medians,
        best=best,
        runs=sum(map(len, times)),
        ratios=tuple(median(theirs) / own for theirs, own in zip(baseline, medians, strict=False)),
        best_ratio=min(min(each) for each in baseline) / best if baseline else None,
    )
