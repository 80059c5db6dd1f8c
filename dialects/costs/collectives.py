"""Cycles of collectives between replicas, over the links.

Replicas of a group that IPU-Links join stand in a ring, up one side of the ladder and down the other: each hands
blocks to both neighbours at once, over all that joins it to them, however many IPUs a replica has. Small all-reduces
go by recursive doubling instead, where that is faster. Groups of several racks reduce within each first, then between
racks over the gateways, and share the result out. Nobody publishes how the vendor's library chooses, and each block
takes an assumed time from neighbour to neighbour. Combining what arrives is not counted.
"""

from collections.abc import Iterator
from math import ceil, log2, prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.collectives import MERGED, Collective, collective_of
from ipu_mlir.dialects.machine.machine import Machine, machine_of
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


def cost_of_collective(op: ir.Operation, target: Target, machine: Machine | None = None) -> tuple[int, int, int]:
    """Of an ``ipu.collective``: bytes that come to a replica, cycles of the links, and of the sync of all replicas.

    Args:
        machine: with other figures than those of ``target``.
    """
    collective, source, machine = collective_of(op), op.operands[0].type, machine or machine_of(target)
    assert collective is not None, "an ipu.collective is one"
    given = prod(source.shape) * element_bytes(source.element_type)
    size = collective.size(target.replicas)
    received = bytes_received(collective, given, size)
    cycles = ceil(_seconds(collective, given, size, target.ipus, machine) * machine.clock_hz) if received else 0
    has_sync = received and MERGED not in op.attributes
    return received, cycles, machine.external_sync_cycles if has_sync else 0


def _seconds(collective: Collective, given: int, size: int, ipus: int, machine: Machine) -> float:
    """Seconds of a collective of ``size`` replicas of ``ipus`` IPUs, each of which gives ``given`` bytes."""
    in_pod = max(1, min(size, machine.ipus_per_pod // ipus))
    pods = ceil(size / in_pod)
    if pods == 1 or not machine.gateway_bytes_per_second:
        return min(_ways(collective, given, size, ipus, machine))
    if collective.kind == "all_reduce":
        within = 2 * min(_ways(Collective("reduce_scatter"), given, in_pod, ipus, machine))
    else:
        within = min(_ways(collective, given, in_pod, ipus, machine))
    beyond = bytes_received(collective, given, pods)  # for each pod once: its IPUs share it
    machines = max(1, in_pod * ipus // machine.ipus_per_machine)
    hops = 2 * (pods - 1) * machine.hop_cycles / machine.clock_hz
    return within + beyond / (machines * machine.gateway_bytes_per_second) + hops


def _ways(collective: Collective, given: int, size: int, ipus: int, machine: Machine) -> Iterator[float]:
    """Seconds of each way to do a collective between replicas that IPU-Links join."""
    if size == 1:
        yield 0.0
        return
    neighbour = machine.neighbour_bytes_per_second
    both = neighbour if size == 2 and ipus == 1 else min(2 * neighbour, machine.ipu_link_bytes_per_second)
    hop = machine.hop_cycles / machine.clock_hz * max(1, ipus // 2)  # rows of the ladder from replica to replica
    received = bytes_received(collective, given, size)
    match collective.kind:
        case "all_reduce":
            yield received / both + 2 * (size - 1) * hop
            doublings = ceil(log2(size))
            yield doublings * given / neighbour + (size - 1) * hop
        case "all_to_all":  # a block goes a quarter of the ring on average
            yield received * max(1.0, size / 4) / both + (size - 1) * hop
        case "broadcast":  # in pieces, which follow each other
            yield received / both + size // 2 * hop
        case _:
            yield received / both + (size - 1) * hop
