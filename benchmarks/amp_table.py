"""Matmuls of [N, 16] x [16, 16] in f16, one on each tile of a Bow: estimated cycles beside measured ones.

    python -m benchmarks.amp_table

Each row is a program, compiled for the machine and profiled: the step of its product, without exchanges and syncs.
Measured figures: "IPU peak FLOPS" notebook of graphcore-research/tessellate-ipu, with the same vertices on the chip.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import ipu_mlir as ipu
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.runtime.profile.profile import Profile

CHANNELS = 16
MEASURED_TFLOPS = {
    16: 55.49,
    32: 96.71,
    64: 152.8,
    128: 211.12,
    256: 264.0,
    512: 299.78,
    768: 314.57,
    1024: 322.7,
    1280: 327.26,
    1472: 329.89,
    1536: 330.7,
    2048: 334.9,
}
"""Per number of rows, of the whole chip."""

_PROGRAM = """
func.func @main(%x: tensor<{tiles}x{rows}x{c}xf16>, %w: tensor<{tiles}x{c}x{c}xf16>)
    -> tensor<{tiles}x{rows}x{c}xf16> {{
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<{tiles}x{rows}x{c}xf16>
  %start = linalg.fill ins(%zero : f16) outs(%empty : tensor<{tiles}x{rows}x{c}xf16>) -> tensor<{tiles}x{rows}x{c}xf16>
  %y = linalg.batch_matmul
      {{ipu.parts = #ipu.parts<[[1, {tiles}, 1], [{rows}, {rows}, 0], [{c}, {c}, 0], [{c}, {c}, 0]], 0>}}
      ins(%x, %w : tensor<{tiles}x{rows}x{c}xf16>, tensor<{tiles}x{c}x{c}xf16>)
      outs(%start : tensor<{tiles}x{rows}x{c}xf16>) -> tensor<{tiles}x{rows}x{c}xf16>
  return %y : tensor<{tiles}x{rows}x{c}xf16>
}}
"""


@dataclass(frozen=True)
class Row:
    """One size: cycles and rate as estimated, and the rate as measured."""

    rows: int
    cycles: int
    tflops: float
    measured_tflops: float

    @property
    def error(self) -> float:
        """How much too fast the estimate is, as a share of what was measured."""
        return self.tflops / self.measured_tflops - 1


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.amp_table", description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="only two sizes")
    arguments = parser.parse_args(argv)
    sizes = (16, 32) if arguments.smoke else tuple(MEASURED_TFLOPS)
    peak = machine_of(Target.named("ipu21")).peak_flops("f16") / 1e12
    print(f"[N, 16] x [16, 16], f16, one per tile of an ipu21; peak {peak:.1f} TFLOPS\n")
    print(f"{'N':>6}{'cycles':>10}{'estimated TF':>16}{'measured TF':>14}{'error':>10}{'of peak':>10}")
    for row in map(measure, sizes):
        print(
            f"{row.rows:>6}{row.cycles:>10,}{row.tflops:>16.1f}{row.measured_tflops:>14.1f}"
            f"{row.error:>+10.1%}{row.tflops / peak:>10.1%}"
        )
    return 0


def measure(rows: int) -> Row:
    """Compile the program with so many rows and profile its product."""
    target = Target.named("ipu21")
    text = _PROGRAM.format(tiles=target.num_tiles, rows=rows, c=CHANNELS)
    profile = ipu.compile(text, target=target).profile()
    cycles, flops = product(profile)
    return Row(rows, cycles, flops * profile.target.clock_hz / cycles / 1e12, MEASURED_TFLOPS[rows])


def product(profile: Profile) -> tuple[int, int]:
    """Cycles and operations of the only product of a program."""
    compute_sets = profile.compilation.compute_sets
    families = [each for step in compute_sets for each in step.families if "matmul" in each.codelet]
    (found,) = families
    (step,) = (each.step for each in compute_sets if found in each.families)
    executed = profile.execution.steps[step]
    assert executed.compute == found.cycles_max, "the product has a compute set of its own"
    return executed.compute, found.flops


if __name__ == "__main__":
    sys.exit(main())
