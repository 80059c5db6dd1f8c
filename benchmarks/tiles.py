"""Whether a program runs and reads the same on 4, 1,472 and 94,208 tiles.

    python -m benchmarks.tiles --workload mlp_inference_b32,norm_softmax

Per target: run time and the lengths of the superstep IR and of the NumPy source, as ratios to the smallest target; all
targets run in turn. The IR may differ, because more tiles ask for more exchanges; it must not grow with their number.
Exit status 1: results are wrong, or the NumPy source grows.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.environment import machine
from benchmarks.run import names_of
from benchmarks.workload import Array, Workload
from benchmarks.workloads import WORKLOADS

_TARGETS = ({"tiles_per_ipu": 4}, {}, {"ipus": 64})
"""Arguments of ``Target``: one very small IPU, one of the default kind, 64 of those."""
_GROWTH_LIMIT = 1.02


@dataclass
class Compiled:
    """A workload on one target; ``medians`` gets the seconds of a run, one per round."""

    tiles: int
    executable: Any
    compile_seconds: float
    ir_length: int
    source_length: int
    right: bool
    medians: list[float] = field(default_factory=list)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table for the workloads of the command line; gives the exit status."""
    arguments = _parse(argv)
    rounds, seconds = (1, 0.0) if arguments.smoke else (arguments.rounds, arguments.seconds)
    for name, value in machine(("numpy", "ipu-mlir", "torch-mlir")).items():
        print(f"{name}: {value}")
    print(f"rounds: {rounds}\n")
    print(
        f"{'workload':24} {'tiles':>7} {'run':>11} {'ratio':>7} {'compile':>10} {'IR':>16} {'NumPy source':>16}  result"
    )
    failed = False
    for name in arguments.workload:
        workload = WORKLOADS[name].smoke() if arguments.smoke else WORKLOADS[name]
        targets = on_targets(workload, rounds, seconds)
        for compiled in targets:
            print(row(name, compiled, targets[0]), flush=True)
        failed |= any(not x.right or x.source_length > _GROWTH_LIMIT * targets[0].source_length for x in targets)
    return int(failed)


def on_targets(workload: Workload, rounds: int, seconds: float) -> list[Compiled]:
    """``workload`` on all targets, run in turn, ``rounds`` times for ``seconds`` each."""
    inputs = workload.inputs()
    expected = list(workload.numpy_form(*inputs))
    compiled = [_compile(workload, target, inputs, expected) for target in _TARGETS]
    for _ in range(rounds):
        for each in compiled:
            each.medians.append(_median_seconds(each.executable, inputs, seconds))
    return compiled


def row(name: str, compiled: Compiled, smallest: Compiled) -> str:
    """One line of the table."""
    ratio = median(x / y for x, y in zip(compiled.medians, smallest.medians, strict=True))
    return " ".join(
        (
            f"{name:24} {compiled.tiles:7,}",
            f"{median(compiled.medians) * 1e3:8.3f} ms {ratio:7.2f} {compiled.compile_seconds * 1e3:7.0f} ms",
            _length(compiled.ir_length, smallest.ir_length),
            _length(compiled.source_length, smallest.source_length),
            f" {'ok' if compiled.right else 'WRONG'}",
        )
    )


def _length(characters: int, of_smallest: int) -> str:
    return f"{characters:8,} x {characters / of_smallest:5.2f}"


def _compile(workload: Workload, target: dict[str, int], inputs: list[Array], expected: list[Array]) -> Compiled:
    import ipu_mlir

    machine_ = ipu_mlir.Target(**target)
    begin = time.perf_counter()
    executable = ipu_mlir.compile(workload.mlir(), target=machine_)
    return Compiled(
        machine_.num_tiles,
        executable,
        time.perf_counter() - begin,
        len(executable.mlir()),
        len(executable.source()),
        workload.is_right(executable.run(inputs), expected),
    )


def _median_seconds(executable: Any, inputs: list[Array], seconds: float) -> float:
    executable.run(inputs)  # wakes caches and threads after the others ran
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        executable.run(inputs)
        times.append(time.perf_counter() - begin)
    return median(times)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.tiles", description=(__doc__ or "").splitlines()[0])
    flag = parser.add_argument
    flag("--workload", type=names_of(WORKLOADS), default=list(WORKLOADS), metavar="NAMES", help=", ".join(WORKLOADS))
    flag("--rounds", type=int, default=5, help="turns of each target (default: 5)")
    flag("--seconds", type=float, default=0.3, help="of each turn (default: 0.3)")
    flag("--smoke", action="store_true", help="reduced sizes and one round: whether everything works")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
