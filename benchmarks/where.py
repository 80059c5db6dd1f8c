"""Where the time of a workload goes: each statement of its NumPy source, and each kind of statement.

    python -m benchmarks.where norm_softmax
    python -m benchmarks.where norm_softmax,conv_block --by-kind
    python -m benchmarks.where norm_softmax --cpu           on a machine that is busy with something else

Times are of the fastest of many runs with a clock around every statement, on all threads together: with two threads,
they add up to at most twice the time of the run. The clock costs 0.2 us per statement, with ``--cpu`` 1.2 us;
half of that counts as time of the statement.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.environment import machine
from benchmarks.run import names_of
from benchmarks.statement_times import StatementTime, TimedSource
from benchmarks.workload import Array, Workload
from benchmarks.workloads import WORKLOADS

_WIDEST = 100  # characters of a statement


@dataclass(frozen=True)
class Profile:
    """The fastest run.

    Attributes:
        plain_seconds: that the fastest run without clocks took.
        seconds: that the run took, with them.
        statements: in the order of the source.
    """

    plain_seconds: float
    seconds: float
    statements: list[StatementTime]

    @property
    def busy_seconds(self) -> float:
        """Of all statements, on all threads together."""
        return sum(statement.seconds for statement in self.statements)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table for each workload of the command line; gives the exit status."""
    arguments = _parse(argv)
    for name, value in machine(("numpy", "ipu-mlir")).items():
        print(f"{name}: {value}")
    for name in arguments.workload:
        workload = WORKLOADS[name].smoke() if arguments.smoke else WORKLOADS[name]
        clock = time.thread_time if arguments.cpu else time.perf_counter
        found = profile(workload, 0.0 if arguments.smoke else arguments.seconds, clock)
        print(f"\n{name}: {found.plain_seconds * 1e3:.3f} ms, with clocks {found.seconds * 1e3:.3f} ms, ", end="")
        print(f"{found.busy_seconds * 1e3:.3f} ms in statements of all threads")
        print("\n".join(rows_by_kind(found) if arguments.by_kind else rows(found)))
    return 0


def profile(workload: Workload, seconds: float, clock: Callable[[], float] = time.perf_counter) -> Profile:
    """Run ``workload`` for ``seconds`` with clocks and as long without, in turn, and keep the fastest of each.

    The fastest run with clocks is the one whose statements took the least time together.
    """
    import ipu_mlir
    from ipu_mlir.dialects import ipu
    from ipu_mlir.dialects.support.parsing import parse_module
    from ipu_mlir.runtime.engine.engine import Engine

    executable = ipu_mlir.compile(workload.mlir())
    timed = TimedSource(executable.source(), clock)
    on_host = parse_module(executable.mlir("host"), ipu.context())
    clocked = Engine(on_host, executable.entry, compiled=lambda _: timed.compiled())
    inputs = workload.inputs()
    plain_seconds: list[float] = []
    best: Profile | None = None
    end = time.perf_counter() + 2 * seconds
    while best is None or time.perf_counter() < end:
        plain_seconds.append(_seconds(executable.run, inputs))
        clocked.run(inputs)  # the memory of this one is in the cache then
        timed.forget()
        took = _seconds(clocked.run, inputs)
        found = Profile(0.0, took, timed.times())
        if best is None or found.busy_seconds < best.busy_seconds:
            best = found
    return replace(best, plain_seconds=min(plain_seconds))


def _seconds(run: Callable[[list[Array]], object], inputs: list[Array]) -> float:
    begin = time.perf_counter()
    run(inputs)
    return time.perf_counter() - begin


def rows(profile: Profile, least_share: float = 0.003) -> Iterator[str]:
    """The lines of a table of statements, in the order of the source, those of the least share left out."""
    yield f"{'line':>5} {'time':>11} {'share':>6}  statement"
    for statement in profile.statements:
        share = statement.seconds / profile.busy_seconds
        if share >= least_share:
            yield f"{statement.line:5} {statement.seconds * 1e3:8.3f} ms {share:6.1%}  {statement.text[:_WIDEST]}"


def rows_by_kind(profile: Profile) -> Iterator[str]:
    """The lines of a table of functions that statements call, largest first."""
    kinds: dict[str, list[float]] = defaultdict(list)
    for statement in profile.statements:
        kinds[statement.function].append(statement.seconds)
    yield f"{'function':24} {'lines':>5} {'time':>11} {'share':>6}"
    for name, times in sorted(kinds.items(), key=lambda entry: -sum(entry[1])):
        yield f"{name:24} {len(times):5} {sum(times) * 1e3:8.3f} ms {sum(times) / profile.busy_seconds:6.1%}"


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.where", description=(__doc__ or "").partition("\n")[0])
    flag = parser.add_argument
    flag("workload", type=names_of(WORKLOADS), help=", ".join(WORKLOADS))
    flag("--by-kind", action="store_true", help="a row per function instead of one per statement")
    flag("--cpu", action="store_true", help="processor time of our own threads instead of the time that passes")
    flag("--seconds", type=float, default=2.0, help="of running with clocks, and as long without (default: 2)")
    flag("--smoke", action="store_true", help="reduced sizes and one run: whether everything works")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
