"""Cycles of an exchange: those of the tile that sends or receives longest.

A tile sends and receives at the same time, each at the exchange's bytes per cycle. Tiles are joined to the exchange in
pairs; where both tiles of a pair receive the same data they get it at twice the rate (read: PopLibs,
``supportsExchangeBusSharing``). Contention on the way and the instructions that steer the switches are not modelled:
nothing is published about them, and the route is free of conflicts because it is planned.
"""

from functools import lru_cache
from typing import overload

import numpy as np

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.sizes import Size, ceil_div, larger
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping, family_with_distinct_tiles
from ipu_mlir.dialects.mapping.traffic import Traffic


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


def exchange_cycles(traffic: Traffic, element_bytes: int, machine: Machine, groups: IntArray | None = None) -> int:
    """Cycles of an exchange on one chip; see ``exchange_cycles_per_tile``."""
    return int(exchange_cycles_per_tile(traffic, element_bytes, machine, groups).max(initial=0))


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
