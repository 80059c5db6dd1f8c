"""How long programs take to compile, pass by pass, with the number of ops that each pass leaves.

    python -m benchmarks.compile_time mlp_training_step_b32 model.mlir
    python -m benchmarks.compile_time --repeat 5

Programs are workloads by name or MLIR files. For a workload, compiling in a fresh process (imports done before) stands
beside the compile time of JAX, where that is installed.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.contenders import CONTENDERS
from benchmarks.environment import machine
from benchmarks.worker import Worker, WorkerFailed
from benchmarks.workloads import WORKLOADS

_BESIDE = ("ipu", "jax")


@dataclass(frozen=True)
class PassRow:
    """One run of one pass: the median over all repetitions, and how many ops it left in the module."""

    name: str
    seconds: float
    verify_seconds: float
    ops: int


@dataclass(frozen=True)
class CompileTime:
    """Where the time of a compilation goes; ``first_seconds`` is that of the first one, the rest are medians."""

    passes: list[PassRow]
    first_seconds: float
    total_seconds: float

    @property
    def other_seconds(self) -> float:
        """What is no pass: to parse the program, and to translate it to NumPy source."""
        return self.total_seconds - sum(row.seconds + row.verify_seconds for row in self.passes)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table for each program of the command line; gives the exit status."""
    arguments = _parse(argv)
    for name, value in machine(("numpy", "ipu-mlir", "torch-mlir", "jax")).items():
        print(f"{name}: {value}")
    for program in arguments.programs or WORKLOADS:
        measured = compile_times(_text(program, arguments.smoke), arguments.repeat)
        print(f"\n{program}: median of {arguments.repeat} after the first, which took {_ms(measured.first_seconds)}")
        print(table(measured))
        if program in WORKLOADS:
            print("in a fresh process: " + ", ".join(_cold(program, name, arguments.smoke) for name in _BESIDE))
    return 0


def compile_times(text: str, repeat: int) -> CompileTime:
    """Compile the program ``text`` once, and then ``repeat`` times for the medians."""
    totals: list[float] = []
    runs: list[list[tuple[str, float, float]]] = []
    for _ in range(repeat + 1):
        seconds, timings = _compile(text)
        totals.append(seconds)
        runs.append(_with_verify(timings))
    rows = [
        PassRow(each[0][0], median(x[1] for x in each), median(x[2] for x in each), ops)
        for each, ops in zip(zip(*runs[1:], strict=True), op_counts(text), strict=True)
    ]
    return CompileTime(rows, totals[0], median(totals[1:]))


def op_counts(text: str) -> list[int]:
    """How many ops the module has after each pass that ``compile`` runs on the program ``text``."""
    from ipu_mlir.compilation.lowering import TO_HOST, plan_lowering
    from ipu_mlir.dialects import ipu
    from ipu_mlir.dialects.support.parsing import parse_module
    from ipu_mlir.passes.core.manager import run_steps

    module = parse_module(text, ipu.context())
    counter = _OpCounter(module.operation)
    for steps in (*plan_lowering().stages.values(), TO_HOST):
        run_steps(module, steps, verify=False, observers=[counter])
    return counter.counts


class _OpCounter:
    """Counts the ops of a whole module after each pass."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.counts: list[int] = []

    def before_pass(self, name: str, op: Any) -> None:
        """Nothing to count yet."""

    def after_pass(self, name: str, op: Any) -> None:
        """Count what the pass left."""
        from ipu_mlir.passes.core.instruments import count_ops

        self.counts.append(count_ops(self._module))

    def pass_failed(self, name: str, op: Any) -> None:
        """Nothing is left to count."""


def table(measured: CompileTime) -> str:
    """The passes in their order, and what else took time."""
    lines = [f"  {'pass':36} {'time':>10} {'verify':>10} {'share':>6} {'ops':>7}"]
    for row in measured.passes:
        share = (row.seconds + row.verify_seconds) / measured.total_seconds
        lines.append(f"  {row.name:36} {_ms(row.seconds)} {_ms(row.verify_seconds)} {share:6.1%} {row.ops:7,}")
    share = measured.other_seconds / measured.total_seconds
    lines.append(f"  {'parse, translate':36} {_ms(measured.other_seconds)} {'':10} {share:6.1%}")
    lines.append(f"  {'total':36} {_ms(measured.total_seconds)}")
    return "\n".join(lines)


def _compile(text: str) -> tuple[float, Sequence[tuple[str, float]]]:
    os.environ["IPU_KERNEL_CACHE"] = ""  # nothing that another run has left on disk
    import ipu_mlir

    begin = time.perf_counter()
    executable = ipu_mlir.compile(text)
    return time.perf_counter() - begin, executable.pass_timings


def _with_verify(timings: Sequence[tuple[str, float]]) -> list[tuple[str, float, float]]:
    """Each pass with the time of the check that follows it."""
    rows: list[tuple[str, float, float]] = []
    for name, seconds in timings:
        if name == "verify":
            last, spent, checked = rows[-1]
            rows[-1] = (last, spent, checked + seconds)
        else:
            rows.append((name, seconds, 0.0))
    return rows


def _cold(workload: str, contender: str, smoke: bool) -> str:
    if not CONTENDERS[contender].is_installed:
        return f"{contender} is not installed"
    try:
        worker = Worker(workload, contender, smoke)
    except WorkerFailed as failure:
        return f"{contender} failed: {failure}"
    worker.stop()
    return f"{contender} {worker.started.compile_seconds * 1e3:.0f} ms"


def _text(program: str, smoke: bool) -> str:
    if program in WORKLOADS:
        workload = WORKLOADS[program]
        return (workload.smoke() if smoke else workload).mlir()
    return Path(program).read_text()


def _program(text: str) -> str:
    if text not in WORKLOADS and not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"'{text}' is no file and no workload; workloads: {', '.join(WORKLOADS)}")
    return text


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:7.2f} ms"


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.compile_time", description=(__doc__ or "").splitlines()[0])
    flag = parser.add_argument
    flag("programs", nargs="*", type=_program, metavar="PROGRAM", help="workload or MLIR file (default: all workloads)")
    flag("--repeat", type=int, default=5, help="compilations after the first (default: 5)")
    flag("--smoke", action="store_true", help="workloads in reduced sizes")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
