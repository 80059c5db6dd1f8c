"""Cycles of pooling.

Source: hardware.md 4.4, read in the cycle estimators of PopLibs.
"""

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, per_worker


def pool_cycles(kind: str, positions: Size, channels: Size, window: Size, dtype: str, machine: Machine) -> Size:
    """Pooling of ``channels`` at ``positions`` points of the output, over ``window`` elements each.

    Args:
        kind: ``max`` or ``sum``.

    That a row of work has one point, and that channels go through in vectors of 64 bits, is assumed.
    """
    first, each = {"max": (3 + 4, 3), "sum": (5, 3)}[kind]
    vectors = ceil_div(channels, machine.vector_width(dtype))
    share = per_worker(positions, machine)
    return machine.workers * (17 + 13 + share * (20 + vectors * (first + each * window)))
