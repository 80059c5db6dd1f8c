"""The links between IPUs, and how long what goes over them at the same time takes.

IPUs stand in pairs, 0 and 1, 2 and 3, ..., joined across and from each pair to the next: a ladder (recalled; the
machines of four IPUs are two such pairs, and more of them are joined end to end). A link is the connection of two
neighbours in one direction; whatever uses it shares its bandwidth.
"""

from math import ceil

import numpy as np

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.mapping.loops import IntArray


def link_loads(between: IntArray, ipus: tuple[int, ...]) -> tuple[int, int]:
    """What the busiest link carries in one direction, and what the busiest IPU puts on or takes from all of its links.

    What goes from one IPU to another goes along its side of the ladder first, and then across.

    Args:
        between: what goes from shard ``i`` to shard ``j``, shape ``(shards, shards)``.
        ipus: by shard, the number of the IPU.

    >>> to_last = np.array([[0, 0, 0, 8], [0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]])
    >>> link_loads(to_last, (0, 1, 2, 3))  # by way of IPU 2, which has something for IPU 3 itself
    (10, 10)
    """
    row, side = np.divmod(np.array(ipus), 2)
    rows = int(row.max()) + 1
    begin, end = np.broadcast_arrays(row[:, None], row[None, :])
    on_side = np.broadcast_to(side[:, None], between.shape)
    rails = np.zeros((2, 2, rows), dtype=np.int64)  # direction, side, row that a rail begins in
    for direction, (low, high) in enumerate(((begin, end), (end, begin))):
        moved = np.where(low < high, between, 0)
        np.add.at(rails[direction], (on_side, low), moved)
        np.subtract.at(rails[direction], (on_side, high), moved)
    rails = rails.cumsum(axis=2)
    rungs = np.zeros((2, rows), dtype=np.int64)  # side, row
    np.add.at(rungs, (on_side, end), np.where(side[:, None] != side[None, :], between, 0))
    up, down = rails
    given = up + np.roll(down, 1, axis=1) + rungs  # a rail that ends in a row has the number of the row below
    taken = np.roll(up, 1, axis=1) + down + rungs[::-1]
    return int(max(rails.max(), rungs.max())), int(max(given.max(), taken.max()))


def link_cycles(between: IntArray, ipus: tuple[int, ...], machine: Machine) -> int:
    """Cycles of an exchange between IPUs: of its busiest link, or of the IPU with most on all of its links.

    Args:
        between: bytes that go from shard ``i`` to shard ``j``.
        ipus: by shard, the number of the IPU.
    """
    if not between.any():
        return 0
    of_link, of_ipu = link_loads(between, ipus)
    seconds = max(of_link / machine.neighbour_bytes_per_second, of_ipu / machine.ipu_link_bytes_per_second)
    return ceil(seconds * machine.clock_hz)


def relay_cycles(crossing: IntArray, received: IntArray, machine: Machine) -> int:
    """Cycles of an exchange that comes to each IPU once and is passed on from there.

    Each side of the ladder carries a half, and the IPUs of a pair give each other what came on their side. That an
    exchange is compiled like this is assumed; a ring of a collective goes the same way.

    Args:
        crossing: bytes that pass from one pair to the next, shape ``(places, 2)``, a column for each direction.
        received: bytes that each shard needs from others.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> relay_cycles(np.array([[64_000, 64_000]]), np.array([48_000] * 4), IPU2)
    1529
    """
    rail = crossing.max(initial=0) / 2
    rung = received.max(initial=0) / 2
    of_ipu = crossing.sum(axis=1).max(initial=0) / 2 + rung
    seconds = max(max(rail, rung) / machine.neighbour_bytes_per_second, of_ipu / machine.ipu_link_bytes_per_second)
    hops = (len(received) + 1) // 2
    return ceil(seconds * machine.clock_hz) + hops * machine.hop_cycles


def places_between(pairs: int) -> list[int]:
    """Between which pairs of a ladder most may pass, as numbers of the upper pair: at both ends and in the middle.

    >>> places_between(2), places_between(32)
    ([1], [1, 16, 31])
    """
    return sorted({1, (pairs + 1) // 2, pairs - 1} - {0})
