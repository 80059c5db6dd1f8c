"""Contenders in one process, in turn, so that a noisy machine hits all of them alike."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks.beside.case import Case
from benchmarks.workload import Array

Run = Callable[[], Any]

MOST_RUNS = 200
REST_SECONDS = 0.02  # until threads that wait for work no longer spin


@dataclass(frozen=True)
class Figures:
    """What one program took.

    Attributes:
        problem: what is wrong with the results; then there are no times.
        cpu: seconds of processor time of one run for each contender, the least of its turns.
        least: seconds of its shortest run.
    """

    name: str
    problem: str = ""
    cpu: Mapping[str, float] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        """True if the results are those of JAX."""
        return not self.problem

    @property
    def torch_cpu(self) -> float | None:
        """Of the better number of threads; None if there is no such form."""
        return min((seconds for name, seconds in self.cpu.items() if name.startswith("torch")), default=None)

    @property
    def cpu_ratio(self) -> float:
        """The better of JAX and torch beside ours, by processor time."""
        return _ratio(self.cpu)

    @property
    def least_ratio(self) -> float:
        """The same by the clock."""
        return _ratio(self.least)

    @property
    def kernels_cost(self) -> float:
        """Time with kernels beside that without, by processor time or the clock, whichever is kinder to kernels."""
        return min(each["auto"] / each["never"] for each in (self.cpu, self.least))

    def plain(self) -> dict[str, Any]:
        """As JSON takes it."""
        ratios = {"cpu_ratio": self.cpu_ratio, "least_ratio": self.least_ratio} if self.is_right else {}
        return {**asdict(self), **ratios}


def _ratio(times: Mapping[str, float]) -> float:
    return min(seconds for name, seconds in times.items() if name not in ("auto", "never")) / times["auto"]


def measure(case: Case, rounds: int, seconds: float, smoke: bool, threads: int) -> Figures:
    """Run all contenders on ``case`` in turn, ``rounds`` times for ``seconds`` each."""
    inputs = case.inputs(**(case.smoke if smoke else case.sizes))
    runs = _runs(case, inputs, threads)
    expected = _arrays(runs["jax"]())
    for name, run in runs.items():
        if problem := difference(_arrays(run()), expected, case.tolerance):
            return Figures(case.name, f"{name}: {problem}")
    cpu = dict.fromkeys(runs, float("inf"))
    least = dict(cpu)
    for _ in range(rounds):
        for name, run in runs.items():
            time.sleep(REST_SECONDS if seconds else 0)
            turn_cpu, turn_least = _turn(run, seconds)
            cpu[name], least[name] = min(cpu[name], turn_cpu), min(least[name], turn_least)
    return Figures(case.name, "", cpu, least)


def _turn(run: Run, seconds: float) -> tuple[float, float]:
    """Processor time of a run, the mean of this turn, and the shortest of its runs by the clock."""
    run()
    count, least, cpu, end = 0, float("inf"), time.process_time(), time.perf_counter() + seconds
    while count < 2 or (count < MOST_RUNS and time.perf_counter() < end):
        begin = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - begin)
        count += 1
    return (time.process_time() - cpu) / count, least


def _runs(case: Case, inputs: list[Array], threads: int) -> dict[str, Run]:
    import jax
    import torch

    import ipu_mlir

    arguments = [jax.numpy.asarray(array) for array in inputs]
    jitted = jax.jit(case.jax_form)
    exes = {name: ipu_mlir.compile(case.jax_form, args=arguments, kernels=name) for name in ("auto", "never")}
    runs: dict[str, Run] = {name: lambda exe=exe: exe(*arguments) for name, exe in exes.items()}
    runs["jax"] = lambda: jax.block_until_ready(jitted(*arguments))
    form = case.torch_form
    if form is not None:
        tensors = [torch.from_numpy(array.copy()) for array in inputs]

        def on(count: int) -> Run:
            def run() -> Any:
                torch.set_num_threads(count)
                return form(*tensors)

            return run

        runs |= {f"torch{count}": on(count) for count in sorted({1, threads})}
    return runs


def _arrays(results: Any) -> list[Array]:
    return [np.asarray(each) for each in (results if isinstance(results, tuple | list) else (results,))]


def difference(got: list[Array], expected: list[Array], tolerance: float) -> str:
    """What is wrong with results; empty if nothing is.

    >>> difference([np.ones(3)], [np.array([1, 1, 2.0])], 1e-3)
    'result 0 is off by 1 of 2'
    """
    if [each.shape for each in got] != [each.shape for each in expected]:
        return f"shapes {[each.shape for each in got]}, expected {[each.shape for each in expected]}"
    for number, (one, other) in enumerate(zip(got, expected, strict=True)):
        off = float(np.abs(one.astype(np.float64) - other.astype(np.float64)).max())
        largest = float(np.abs(other).max())
        if not off <= tolerance * largest:
            return f"result {number} is off by {off:g} of {largest:g}"
    return ""
