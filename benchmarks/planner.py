"""What the planner gains: estimated cycles of the workloads, planned in two ways.

    python -m benchmarks.planner
    python -m benchmarks.planner norm_softmax,conv_block

``balanced`` cuts every op into as many equal parts as there are tiles, ``fastest`` counts cycles; ``ratio`` says how
many times fewer the latter takes. Nothing runs: cycles are those of the profile, without what the host transfers, which
is the same for both.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal

from benchmarks.element_types import with_floats
from benchmarks.run import names_of
from benchmarks.workloads import WORKLOADS
from ipu_mlir.compilation.variants import Variants
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.runtime.profile.profile import Profile

CHIP = "ipu2"
PLANS: tuple[Literal["balanced", "fastest"], ...] = ("balanced", "fastest")
_HEADER = (
    f"{'workload':26} {'plan':9} {'cycles':>12} {'compute':>12} {'exchange':>12} {'sync':>8} "
    f"{'TFLOP/s':>8} {'of peak':>8} {'ratio':>6}"
)


@dataclass(frozen=True)
class Plan:
    """A program, planned in one way.

    Attributes:
        name: of the plan.
        cycles: all but those of the host; ``compute``, ``exchange`` and ``sync`` add up to them.
        tflops: operations per second in these cycles, in units of 10 to the 12th.
        share_of_peak: the same by the peak of their type; None if no peak counts for them.
        fits: whether the tiles have the memory.
    """

    name: str
    cycles: int
    compute: int
    exchange: int
    sync: int
    tflops: float
    share_of_peak: float | None
    fits: bool


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.planner", description=(__doc__ or "").partition("\n")[0])
    flag = parser.add_argument
    flag("names", type=names_of(WORKLOADS), nargs="?", default=list(WORKLOADS), help=f"of {', '.join(WORKLOADS)}")
    flag("--smoke", action="store_true", help="reduced sizes: whether everything works")
    arguments = parser.parse_args(argv)

    target = Target.named(CHIP)
    print(f"chip: {CHIP}, {target.num_tiles:,} tiles at {target.clock_hz / 1e9:.3f} GHz")
    print(f"sizes: {'smoke' if arguments.smoke else 'full'}\nhost transfers: left out\n\n{_HEADER}")
    ratios: list[float] = []
    for name, text in programs(arguments.names, arguments.smoke):
        balanced, fastest = both = plans(text)
        ratios.append(balanced.cycles / fastest.cycles)
        for plan in both:
            print(row(name, plan, ratios[-1] if plan is fastest else None), flush=True)
    print(f"\ngeometric mean of {len(ratios)} ratios: {exp(sum(map(log, ratios)) / len(ratios)):.2f}")
    return 0


def programs(names: Sequence[str], smoke: bool) -> list[tuple[str, str]]:
    """The programs as MLIR text; the product of matrices in f32 and in f16."""
    found: list[tuple[str, str]] = []
    for name in names:
        workload = WORKLOADS[name].smoke() if smoke else WORKLOADS[name]
        found.append((name, workload.mlir()))
        if name == "matmul":
            found.append((f"{name} f16", with_floats(workload.mlir(), "f16")))
    return found


def plans(text: str) -> list[Plan]:
    """A program, planned in each way."""
    variants, target = Variants(text), Target.named(CHIP)
    return [plan_of(name, variants.profile(target, Partition(plan=name))) for name in PLANS]


def plan_of(name: str, profile: Profile) -> Plan:
    """The figures of a profile, without what the host transfers."""
    execution = profile.execution
    cycles = execution.cycles.total - execution.cycles.host
    shares = [share for share in (execution.share_of_peak.f16, execution.share_of_peak.f32) if share is not None]
    return Plan(
        name=name,
        cycles=cycles,
        compute=execution.cycles.compute,
        exchange=execution.cycles.exchange + execution.cycles.inter_ipu,
        sync=execution.cycles.sync,
        tflops=execution.flops * profile.target.clock_hz / cycles / 1e12,
        share_of_peak=sum(shares) * execution.cycles.total / cycles if shares else None,
        fits=profile.compilation.fits,
    )


def row(workload: str, plan: Plan, ratio: float | None) -> str:
    """One line of the table; ``ratio`` is how many times faster than the balanced plan it is."""
    share = "-" if plan.share_of_peak is None else f"{plan.share_of_peak:.1%}"
    return (
        f"{workload:26} {plan.name:9} {plan.cycles:>12,} {plan.compute:>12,} {plan.exchange:>12,} {plan.sync:>8,} "
        f"{plan.tflops:>8.2f} {share:>8} {'' if ratio is None else f'{ratio:.2f}':>6}"
        f"{'' if plan.fits else '  does not fit'}"
    ).rstrip()


if __name__ == "__main__":
    sys.exit(main())
