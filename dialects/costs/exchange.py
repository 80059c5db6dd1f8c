"""Cycles of what tiles do together: exchanges on the chip and over links, what goes to the host and back, and syncs.

An exchange takes as long as the tile that sends or receives longest. A tile sends and receives at the same time, each
at the exchange's bytes per cycle. Tiles are joined to the exchange in pairs; where both tiles of a pair receive the
same data they get it at twice the rate (read: PopLibs, ``supportsExchangeBusSharing``). Contention on the way and the
instructions that steer the switches are not modelled: nothing is published about them, and the route is free of
conflicts because it is planned.

A superstep is compute, sync, exchange: one sync belongs to every compute set, however many exchanges follow it. An
exchange between IPUs has one more, of all IPUs, and so has a scalar that control flow learns if there are several.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, prod
from typing import overload

import numpy as np

from ipu_mlir.dialects.analysis.buffers import element_bytes, memory_mapping, strides_and_offset
from ipu_mlir.dialects.machine.links import link_cycles, places_between, relay_cycles
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.machine.selection import physical_ipus
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, larger
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.ipu_traffic import IpuTraffic, crossing_traffic, ipu_traffic, traffic_if_fast
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping, family_with_distinct_tiles
from ipu_mlir.dialects.mapping.traffic import Traffic, exchange_traffic
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.bindings import ir


def all_sync_cycles(ipus: int, machine: Machine) -> int:
    """Cycles of a sync of all tiles of a program on ``ipus`` IPUs.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> all_sync_cycles(1, IPU2), all_sync_cycles(4, IPU2)
    (100, 600)
    """
    return machine.sync_cycles if ipus == 1 else machine.external_sync_cycles


def cycles_at(byte_count: int, bytes_per_second: float, machine: Machine) -> int:
    """Cycles of the machine's clock that ``byte_count`` bytes take.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> cycles_at(16_000, 16e9, IPU2)
    1325
    """
    return ceil(byte_count * machine.clock_hz / bytes_per_second) if byte_count else 0


def host_write_cycles(bytes_of_ipus: IntArray, replicas: int, machine: Machine) -> int:
    """Cycles in which the host hands so many bytes to each IPU of each of ``replicas``.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [host_write_cycles(np.array([16_000]), replicas, IPU2) for replicas in (1, 2, 16)]
    [1325, 1696, 13568]
    """
    return _host_cycles(bytes_of_ipus, replicas, machine.host_write_bytes_per_second, machine)


def host_read_cycles(bytes_of_ipus: IntArray, replicas: int, machine: Machine) -> int:
    """Cycles in which the host takes so many bytes from each IPU of each of ``replicas``."""
    return _host_cycles(bytes_of_ipus, replicas, machine.host_read_bytes_per_second, machine)


def _host_cycles(bytes_of_ipus: IntArray, replicas: int, bytes_per_second: float, machine: Machine) -> int:
    """Each IPU has a connection of its own; those of a machine share its gateway, and those of a rack one host."""
    each = np.tile(bytes_of_ipus, replicas)
    machines, racks = (
        np.add.reduceat(each, range(0, len(each), size)) for size in (machine.ipus_per_machine, machine.ipus_per_pod)
    )
    seconds = [each.max(initial=0) / bytes_per_second, racks.max() / machine.host_bytes_per_second]
    if machine.gateway_bytes_per_second:
        seconds.append(machines.max() / machine.gateway_bytes_per_second)
    return ceil(max(seconds) * machine.clock_hz)


def streaming_cycles(bytes_per_ipu: int, machine: Machine) -> int:
    """Cycles in which each IPU copies that many bytes from or to its streaming memory."""
    return cycles_at(bytes_per_ipu, machine.streaming_bytes_per_second, machine)


@overload
def cycles_for_bytes(received: int, sent: int, machine: Machine) -> int: ...
@overload
def cycles_for_bytes(received: IntArray, sent: IntArray, machine: Machine) -> IntArray: ...
@overload
def cycles_for_bytes(received: Size, sent: Size, machine: Machine) -> Size: ...
def cycles_for_bytes(received: Size, sent: Size, machine: Machine) -> Size:
    """Cycles of a tile that receives and sends so many bytes, numbers or arrays of numbers.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> cycles_for_bytes(received=1000, sent=24, machine=IPU2)
    250
    """
    busiest = max(received, sent) if isinstance(received, int) and isinstance(sent, int) else larger(received, sent)
    return ceil_div(busiest, machine.exchange_bytes_per_cycle)


def exchange_cycles_per_tile(
    traffic: Traffic, element_bytes: int, machine: Machine, groups: IntArray | None = None
) -> IntArray:
    """For how many cycles each tile is busy, shape ``(num_tiles,)``.

    Args:
        traffic: elements that each tile receives, sends and has.
        element_bytes: bytes of an element.
        groups: per tile, which elements it asks for (``groups_of``): equal numbers ask for the same. Without it no two
            tiles are assumed to receive the same data.
    """
    received = traffic.received
    if groups is not None and machine.tiles_per_shared_bus == 2:
        received = received - _received_at_once(traffic, machine, groups)
    cycles = cycles_for_bytes(received * element_bytes, traffic.sent * element_bytes, machine)
    return np.asarray(cycles, dtype=np.int64)


@lru_cache(maxsize=128)
def groups_of(dest: Mapping, num_tiles: int) -> IntArray:
    """Per tile, a number of what it holds of ``dest``: tiles of one number hold the same; -1 where nothing lies.

    >>> from ipu_mlir.dialects.mapping.loops import MappingLoop
    >>> row_on_two_tiles = Mapping(8, (MappingLoop(1, 2, 4, 2), MappingLoop(1, 2, 0, 1), MappingLoop(4, 4, 1, 0)))
    >>> groups_of(row_on_two_tiles, num_tiles=6).tolist()
    [0, 0, 1, 1, -1, -1]
    """
    family = family_with_distinct_tiles(dest)
    groups = np.full(num_tiles, -1, dtype=np.int64)
    groups[family.tiles] = np.arange(family.num_parts) // max(1, len(family.repeats))
    groups.flags.writeable = False  # it is cached
    return groups


def _received_at_once(traffic: Traffic, machine: Machine, groups: IntArray) -> IntArray:
    """Elements that each tile gets for free while its neighbour listens to the same ones.

    Neighbours of one group miss in common at least what neither of them has. That half of it comes for free is the
    double rate. A tile without a neighbour on its chip has a bus of its own.
    """
    pairs = _pairs_of_neighbours(len(groups), machine)
    listens_to_same = (groups[pairs[0]] == groups[pairs[1]]) & (groups[pairs[0]] >= 0)
    needed = traffic.received[pairs[0]] + traffic.local[pairs[0]]
    in_common = np.maximum(needed - traffic.local[pairs[0]] - traffic.local[pairs[1]], 0)
    free = np.zeros(len(groups), dtype=np.int64)
    free[pairs] = in_common * listens_to_same // 2
    return free


@lru_cache(maxsize=16)
def _pairs_of_neighbours(num_tiles: int, machine: Machine) -> IntArray:
    """The tiles that share a bus, shape ``(2, pairs)``; pairs do not reach over the edge of a chip."""
    first = np.arange(0, num_tiles, dtype=np.int64)
    first = first[(first % machine.tiles_per_ipu) % 2 == 0]
    first = first[((first + 1) % machine.tiles_per_ipu != 0) & (first + 1 < num_tiles)]
    return np.stack([first, first + 1])


_FEWEST_TO_PASS_ON = 4  # IPUs: of fewer, no IPU passes anything on


Side = tuple[Mapping, View]
"""Where a buffer lies, and which of its elements are meant."""


@dataclass(frozen=True, eq=False)
class ExchangeCost:
    """Cycles and bytes of one exchange.

    Attributes:
        busy_cycles: for how many cycles each tile sends or receives, shape ``(num_tiles,)``; the exchange takes as
            long as the tile that takes longest.
        inter_ipu_cycles: of the busiest link, or of the IPU with most on all of its links; what an IPU passes on for
            others counts. What several IPUs need is sent to each, or passed on, whichever is faster.
        sync_cycles: of the sync of all IPUs that an exchange between them has; 0 on one chip.
        bytes_received, bytes_sent: of all tiles; what several tiles receive is sent once.
        bytes_received_worst: of the tile that receives most.
        bytes_from_other_ipus, bytes_to_other_ipus: of each IPU, shape ``(ipus,)``.
    """

    busy_cycles: IntArray
    inter_ipu_cycles: int
    sync_cycles: int
    bytes_received: int
    bytes_sent: int
    bytes_received_worst: int
    bytes_from_other_ipus: IntArray
    bytes_to_other_ipus: IntArray

    @property
    def cycles(self) -> int:
        """Cycles on the chip."""
        return int(self.busy_cycles.max(initial=0))


def cost_of_exchange(exchange: ir.Operation, target: Target) -> ExchangeCost:
    """The cost of an ``ipu.exchange``, or of a ``memref.copy`` between buffers on tiles."""
    source, dest = (operand.type for operand in exchange.operands)
    return cost_between(side_of(source), side_of(dest), element_bytes(ir.MemRefType(dest).element_type), target)


def bytes_between_ipus(exchange: ir.Operation, target: Target) -> IntArray:
    """What each IPU gives to each other one in ``exchange``, shape ``(ipus, ipus)``."""
    source, dest = (operand.type for operand in exchange.operands)
    traffic = ipu_traffic(*side_of(source), *side_of(dest), target.ipus, target.tiles_per_ipu)
    return traffic.between * element_bytes(ir.MemRefType(dest).element_type)


def side_of(memref: ir.Type) -> Side:
    """Where the elements of a buffer lie."""
    mapping = memory_mapping(memref)
    assert mapping is not None, "an exchange is between buffers on tiles, says its verifier"
    strides, offset = strides_and_offset(memref)
    return mapping, View(offset, tuple(ir.MemRefType(memref).shape), strides)


def cost_between(source: Side, dest: Side, element_size: int, target: Target) -> ExchangeCost:
    """The cost of giving ``dest`` the elements of ``source``, each of ``element_size`` bytes."""
    machine = machine_of(target)
    traffic = exchange_traffic(*source, *dest, target.num_tiles)
    between = ipu_traffic(*source, *dest, target.ipus, target.tiles_per_ipu)
    links = cycles_of_links(source, dest, element_size, target)
    return ExchangeCost(
        busy_cycles=exchange_cycles_per_tile(traffic, element_size, machine, groups_of(dest[0], target.num_tiles)),
        inter_ipu_cycles=links,
        sync_cycles=all_sync_cycles(target.ipus, machine) if links else 0,
        bytes_received=int(traffic.received.sum()) * element_size,
        bytes_sent=int(traffic.sent.sum()) * element_size,
        bytes_received_worst=int(traffic.received.max()) * element_size,
        bytes_from_other_ipus=between.received * element_size,
        bytes_to_other_ipus=between.sent * element_size,
    )


def cycles_of_links(source: Side, dest: Side, element_size: int, target: Target) -> int:
    """Cycles that giving ``dest`` the elements of ``source`` takes on the links, by the faster way.

    What several IPUs need is sent to each of them, or passed on from one to the next. Those behind the last one that
    takes part have nothing to do with it.
    """
    count = _ipus_of(source, dest, target)
    if count == 1:
        return 0
    traffic = ipu_traffic(*source, *dest, count, target.tiles_per_ipu)

    def crossing(at: int) -> tuple[int, int]:
        return crossing_traffic(*source, *dest, count, target.tiles_per_ipu, at)

    return _by_the_faster_way(traffic, crossing, element_size, target)


@lru_cache(maxsize=4096)
def estimated_cycles_of_links(source: Side, dest: Side, element_size: int, target: Target) -> int | None:
    """As ``cycles_of_links``, in a part of the time; None where it takes a look at very many elements.

    Of what an IPU gives to several others it is taken to pass on as much as they need together, or all that it holds
    of what anybody needs; of an allocation of which a slice is needed, every IPU is taken to hold the same share of it.
    """
    count = _ipus_of(source, dest, target)
    if count == 1:
        return 0
    traffic = traffic_if_fast(*source, *dest, count, target.tiles_per_ipu)
    if traffic is None:
        return None
    tiles, elements = source[0].elements_per_tile()
    share = min(1, prod(loop.extent for loop in dest[0].loops if loop.stride) / source[0].elements)
    held = (np.bincount(tiles // target.tiles_per_ipu, elements, minlength=count) * share).astype(np.int64)

    def crossing(at: int) -> tuple[int, int]:
        up, down = traffic.between[:at, at:].sum(axis=1), traffic.between[at:, :at].sum(axis=1)
        return int(np.minimum(up, held[:at]).sum()), int(np.minimum(down, held[at:count]).sum())

    return _by_the_faster_way(traffic, crossing, element_size, target)


def _ipus_of(source: Side, dest: Side, target: Target) -> int:
    return 1 + max(0, source[0].max_tile, dest[0].max_tile) // target.tiles_per_ipu


def _by_the_faster_way(
    traffic: IpuTraffic, crossing: Callable[[int], tuple[int, int]], element_size: int, target: Target
) -> int:
    """Cycles on the links; ``crossing`` gives the elements that pass an IPU, upwards and downwards, each once."""
    count = len(traffic.received)
    machine, ipus = machine_of(target), physical_ipus(target)[:count]
    sent_to_each = link_cycles(traffic.between * element_size, ipus, machine)
    pairs = [ipu // 2 for ipu in ipus]
    if count < _FEWEST_TO_PASS_ON or pairs != sorted(pairs) or sent_to_each <= count * machine.hop_cycles:
        return sent_to_each
    places = [crossing(2 * pair) for pair in places_between(pairs[-1] + 1)]
    passed_on = relay_cycles(np.array(places) * element_size, traffic.received * element_size, machine)
    return min(sent_to_each, passed_on)


def crosses_ipus(source: Side, dest: Side, target: Target) -> bool:
    """True if giving ``dest`` the elements of ``source`` moves any to another IPU."""
    return target.ipus > 1 and bool(ipu_traffic(*source, *dest, target.ipus, target.tiles_per_ipu).received.any())
