"""Run workloads with several contenders in turn, and print how fast each is beside hand-written NumPy.

    python -m benchmarks.run --workload norm_softmax,conv_block --contender numpy,ipu --rounds 7
    python -m benchmarks.run --smoke

Ratios of one run can be compared, absolute times of a shared machine cannot. Every contender runs in a process of its
own; its results are checked outside the timed part. Exit status 1: a result is wrong, or a contender failed.
"""

import argparse
import json
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.contenders import CONTENDERS
from benchmarks.environment import machine
from benchmarks.measure import BASELINE, Measurement, measure
from benchmarks.workloads import WORKLOADS

_HEADER = (
    f"{'workload':24} {'contender':9} {'median':>11} {'x ' + BASELINE:>7} {'rounds':>13} {'best x':>7} "
    f"{'compile':>9} {'import':>8} {'peak growth':>11}  result"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; gives the exit status."""
    arguments = _parse(argv)
    rounds, seconds = (1, 0.0) if arguments.smoke else (arguments.rounds, arguments.seconds)
    facts = {
        **machine(package for name in arguments.contender for package in CONTENDERS[name].packages),
        "rounds": rounds,
        "seconds_per_round": seconds,
        "sizes": "smoke" if arguments.smoke else "full",
    }
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), end="\n\n")
    print(_HEADER)
    done: list[Measurement] = []
    for workload in arguments.workload:
        for measurement in measure(workload, arguments.contender, rounds, seconds, arguments.smoke):
            print(row(measurement), flush=True)
            done.append(measurement)
    if arguments.json:
        report = {"machine": facts, "measurements": [measurement.plain() for measurement in done]}
        Path(arguments.json).write_text(json.dumps(report, indent=1) + "\n")
    return int(any(measurement.failed for measurement in done))


def row(measurement: Measurement) -> str:
    """One line of the table."""
    begin = f"{measurement.workload:24} {measurement.contender:9}"
    if measurement.problem:
        return f"{begin} {measurement.problem}"
    ratios, best_ratio = measurement.ratios, measurement.best_ratio
    growth = measurement.peak_growth_bytes
    return " ".join(
        (
            begin,
            f"{median(measurement.round_medians) * 1e3:8.3f} ms",
            f"{median(ratios):7.2f}" if ratios else f"{'-':>7}",
            f"{f'{min(ratios):.2f} .. {max(ratios):.2f}' if ratios else '-':>13}",
            f"{best_ratio:7.2f}" if best_ratio is not None else f"{'-':>7}",
            f"{measurement.compile_seconds * 1e3:6.0f} ms",
            f"{measurement.import_seconds:6.2f} s",
            f"{growth / 2**20:7.0f} MiB" if growth is not None else f"{'-':>11}",
            f" {'ok' if measurement.right else 'WRONG'}, {measurement.runs} runs",
        )
    )


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.run", description=(__doc__ or "").partition("\n")[0])
    flag = parser.add_argument
    flag("--workload", type=names_of(WORKLOADS), default=list(WORKLOADS), metavar="NAMES", help=", ".join(WORKLOADS))
    flag("--contender", type=names_of(CONTENDERS), default=list(CONTENDERS), metavar="NAMES", help="in this order")
    flag("--rounds", type=int, default=5, help="turns of each contender (default: 5)")
    flag("--seconds", type=float, default=0.4, help="of each turn (default: 0.4)")
    flag("--json", metavar="FILE", help="write everything to FILE")
    flag("--smoke", action="store_true", help="reduced sizes and one round: whether everything works")
    return parser.parse_args(argv)


def names_of(known: Collection[str]) -> Any:
    """A converter for comma-separated names out of ``known``."""

    def names(text: str) -> list[str]:
        given = text.split(",")
        for name in given:
            if name not in known:
                raise argparse.ArgumentTypeError(f"there is no '{name}'; there are {', '.join(known)}")
        return given

    return names


if __name__ == "__main__":
    sys.exit(main())
