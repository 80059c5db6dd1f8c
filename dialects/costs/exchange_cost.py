"""What one exchange costs in all: on the chip, over the links between IPUs, and waiting."""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.buffers import element_bytes, memory_mapping, strides_and_offset
from ipu_mlir.dialects.costs.exchange import exchange_cycles_per_tile, groups_of
from ipu_mlir.dialects.costs.links import ipu_link_cycles
from ipu_mlir.dialects.costs.sync import all_sync_cycles
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.ipu_traffic import ipu_traffic
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.traffic import exchange_traffic
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.bindings import ir

Side = tuple[Mapping, View]
"""Where a buffer lies, and which of its elements are meant."""


@dataclass(frozen=True, eq=False)
class ExchangeCost:
    """Cycles and bytes of one exchange.

    Attributes:
        busy_cycles: for how many cycles each tile sends or receives, shape ``(num_tiles,)``; the exchange takes as
            long as the tile that takes longest.
        inter_ipu_cycles: of the links, by the IPU that takes most from others or gives most to them.
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


def side_of(memref: ir.Type) -> Side:
    """Where the elements of a buffer lie."""
    mapping = memory_mapping(memref)
    assert mapping is not None, "an exchange is between buffers on tiles, says its verifier"
    strides, offset = strides_and_offset(memref)
    return mapping, View(offset, tuple(ir.MemRefType(memref).shape), strides)


def cost_between(source: Side, dest: Side, element_size: int, target: Target) -> ExchangeCost:
    """The cost of giving ``dest`` the elements of ``source``, each of ``element_size`` bytes."""
    machine: Machine = machine_of(target)
    traffic = exchange_traffic(*source, *dest, target.num_tiles)
    between = ipu_traffic(*source, *dest, target.ipus, target.tiles_per_ipu)
    crossing = int(max(between.received.max(), between.sent.max())) * element_size
    return ExchangeCost(
        busy_cycles=exchange_cycles_per_tile(traffic, element_size, machine, groups_of(dest[0], target.num_tiles)),
        inter_ipu_cycles=ipu_link_cycles(crossing, machine),
        sync_cycles=all_sync_cycles(target.ipus, machine) if crossing else 0,
        bytes_received=int(traffic.received.sum()) * element_size,
        bytes_sent=int(traffic.sent.sum()) * element_size,
        bytes_received_worst=int(traffic.received.max()) * element_size,
        bytes_from_other_ipus=between.received * element_size,
        bytes_to_other_ipus=between.sent * element_size,
    )
