"""Cycles of vertices that draw random numbers: ``n`` elements by the six workers of a tile together.

Source: hardware.md 4.5, read in the cycle estimators of PopLibs. Integer divisions round down there.
"""

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.sizes import Size, choose
from ipu_mlir.dialects.support.element_types import element_type


def _vector_turns(cycles: int, n: Size, width: int) -> Size:
    return cycles * (n + width - 1) // width


def dropout_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """
    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> int(dropout_cycles(1200, "f16", IPU2))
    751
    """
    width = machine.vector_width(dtype)
    tail = choose(n % width != 0, 9 if element_type(dtype).is_narrow else 1, 0)
    return 6 + 24 * machine.workers + _vector_turns(2, n, width) + tail


def normal_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """
    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> int(normal_cycles(600, "f32", IPU2))
    1338
    """
    width = machine.vector_width(dtype)
    tail = choose(n % width != 0, 12 if element_type(dtype).is_narrow else 3, 0)
    return 4 + (24 if element_type(dtype).is_narrow else 22) * machine.workers + _vector_turns(4, n, width) + tail


def truncated_normal_cycles(n: Size, dtype: str, machine: Machine, iterations: int) -> Size:
    """Normal numbers of which those far out are drawn again, ``iterations`` times."""
    width = machine.vector_width(dtype)
    half = element_type(dtype).is_narrow
    turn = (12 if half else 11) * iterations + 5
    tail = choose(n % width != 0, 12 if half else 3, 0)
    return 4 + (28 if half else 26) * machine.workers + _vector_turns(turn, n, width) + tail


def uniform_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """Uniform numbers: floating point, or integers of a range."""
    if dtype.startswith("i"):
        return 22 * machine.workers + 6 * (n // 2)
    width = machine.vector_width(dtype)
    return 4 + (24 if element_type(dtype).is_narrow else 22) * machine.workers + _vector_turns(4, n, width)


def bernoulli_cycles(n: Size, dtype: str, machine: Machine) -> Size:
    """One vector per cycle; PopLibs counts eight times as many elements, which no load and store could follow."""
    return (
        4
        + (21 if element_type(dtype).is_narrow else 23) * machine.workers
        + _vector_turns(1, n, machine.vector_width(dtype))
    )


def set_seed_cycles(machine: Machine) -> int:
    """
    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> set_seed_cycles(IPU2)
    176
    """
    return 14 + 27 * machine.workers
