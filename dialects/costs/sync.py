"""Cycles in which tiles wait for each other.

A superstep is compute, sync, exchange: one sync belongs to every compute set, however many exchanges follow it. An
exchange between IPUs has one more, of all IPUs, and so has a scalar that control flow learns if there are several.
"""

from ipu_mlir.dialects.machine.machine import Machine


def compute_sync_cycles(machine: Machine) -> int:
    """Cycles of the sync that ends a compute set: of the tiles of each IPU on their own."""
    return machine.sync_cycles


def all_sync_cycles(ipus: int, machine: Machine) -> int:
    """Cycles of a sync of all tiles of a program on ``ipus`` IPUs.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> all_sync_cycles(1, IPU2), all_sync_cycles(4, IPU2)
    (100, 600)
    """
    return machine.sync_cycles if ipus == 1 else machine.external_sync_cycles
