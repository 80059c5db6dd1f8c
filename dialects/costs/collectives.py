"""Cycles of collectives between replicas, over the links.

Replicas of a group are taken to stand in a ring in which each hands blocks on to the next one over all of its links;
nobody publishes how the vendor's library chooses. What it takes to combine what arrives is not counted.
"""

from math import ceil, prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.collectives import MERGED, Collective, collective_of
from ipu_mlir.dialects.costs.exchange import ipu_link_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir


def bytes_received(collective: Collective, given: int, size: int) -> int:
    """Bytes that come to a replica of a group of ``size`` when each gives ``given``. Source: ring algorithms, assumed.

    >>> [bytes_received(Collective(kind), 100, 4) for kind in ("all_reduce", "all_gather", "reduce_scatter")]
    [150, 300, 75]
    """
    match collective.kind:
        case "all_reduce":
            return ceil(2 * given * (size - 1) / size)
        case "all_gather":
            return given * (size - 1)
        case "reduce_scatter" | "all_to_all":
            return ceil(given * (size - 1) / size)
        case "broadcast":
            return given if size > 1 else 0
        case "assume_equal":
            return 0


def cost_of_collective(op: ir.Operation, target: Target) -> tuple[int, int, int]:
    """Of an ``ipu.collective``: bytes that come to a replica, cycles of the links, and of the sync of all replicas.

    The IPUs of a replica are taken to share the bytes evenly.
    """
    collective, source, machine = collective_of(op), op.operands[0].type, machine_of(target)
    assert collective is not None, "an ipu.collective is one"
    given = prod(source.shape) * element_bytes(source.element_type)
    received = bytes_received(collective, given, collective.size(target.replicas))
    cycles = ipu_link_cycles(ceil(received / target.ipus), machine)
    has_sync = received and MERGED not in op.attributes
    return received, cycles, machine.external_sync_cycles if has_sync else 0
