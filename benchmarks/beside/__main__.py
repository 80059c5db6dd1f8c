"""Run real programs beside JAX and PyTorch in turn, and print how fast each is beside the better of the two.

    python -m benchmarks.beside --case layer_norm_gradient,lstm --rounds 9
    python -m benchmarks.beside --smoke

``auto`` is what ``compile`` makes of the JAX form, ``never`` the same without kernels; torch runs eagerly, on one
thread and on as many as there are processors. All are in one process. ``cpu`` compares processor time of all threads
for one run, ``least`` the shortest by the clock; a ratio above 1 means that ours is faster. Exit status 1: a result
is wrong.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

from benchmarks.beside.cases import CASES
from benchmarks.beside.turns import Figures, measure
from benchmarks.environment import machine
from benchmarks.run import names_of

_BEHIND = 0.7
_SLOWER = 1.1


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; gives the exit status."""
    parser = argparse.ArgumentParser("python -m benchmarks.beside", description=(__doc__ or "").partition("\n")[0])
    flag = parser.add_argument
    flag("--case", type=names_of(CASES), default=list(CASES), metavar="NAMES", help=", ".join(CASES))
    flag("--rounds", type=int, default=7, help="turns of each contender (default: 7)")
    flag("--seconds", type=float, default=0.1, help="of each turn (default: 0.1)")
    flag("--json", metavar="FILE", help="write everything to FILE")
    flag("--smoke", action="store_true", help="reduced sizes and one round: whether everything works")
    arguments = parser.parse_args(argv)
    rounds, seconds = (1, 0.0) if arguments.smoke else (arguments.rounds, arguments.seconds)
    facts = machine(("ipu-mlir", "jax", "torch", "numpy"))
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), end="\n\n")
    print(f"{'program':24} {'auto':>9} {'never':>9} {'jax':>9} {'torch':>9}  {'cpu':>5} {'least':>5}")
    done: list[Figures] = []
    for name in arguments.case:
        done.append(measure(CASES[name], rounds, seconds, arguments.smoke, os.cpu_count() or 1))
        print(row(done[-1]), flush=True)
    print("\n" + "\n".join(summary(done)))
    if arguments.json:
        report: dict[str, Any] = {"machine": facts, "figures": [figures.plain() for figures in done]}
        Path(arguments.json).write_text(json.dumps(report, indent=1) + "\n")
    return int(not all(figures.is_right for figures in done))


def row(figures: Figures) -> str:
    """One line of the table: milliseconds of processor time, and ratios to the better of the others."""
    if not figures.is_right:
        return f"{figures.name:24} {figures.problem}"
    times = (figures.cpu["auto"], figures.cpu["never"], figures.cpu["jax"], figures.torch_cpu)
    texts = (f"{time * 1e3:9.3f}" if time is not None else f"{'-':>9}" for time in times)
    return f"{figures.name:24} {' '.join(texts)}  {figures.cpu_ratio:5.2f} {figures.least_ratio:5.2f}"


def summary(done: Sequence[Figures]) -> list[str]:
    """Geometric means, what is far behind, and where kernels are slower than calls of NumPy."""
    right = [figures for figures in done if figures.is_right]
    if not right:
        return ["no result is right"]

    def mean(ratios: list[float]) -> float:
        return prod(ratios) ** (1 / len(ratios))

    behind = sorted((each.cpu_ratio, each.name) for each in right if each.cpu_ratio < _BEHIND)
    slower = [f"{each.name} {each.kernels_cost:.2f}" for each in right if each.kernels_cost > _SLOWER]
    cpu, least = mean([each.cpu_ratio for each in right]), mean([each.least_ratio for each in right])
    return [
        f"geometric mean of {len(right)}: {cpu:.2f} by processor time, {least:.2f} by the clock",
        f"below {_BEHIND}: " + (", ".join(f"{name} {ratio:.2f}" for ratio, name in behind) or "none"),
        f"kernels cost more than {_SLOWER} x of none: " + (", ".join(slower) or "nowhere"),
    ]


if __name__ == "__main__":
    sys.exit(main())
