"""The IPU of a machine that each shard is, and the distance between two of them.

IPUs stand in pairs, 0 and 1, 2 and 3, ..., joined across and from each pair to the next: a ladder (recalled; the
machines of four IPUs are two such pairs, and more of them are joined end to end).
"""

from functools import lru_cache

import numpy as np

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.errors import Settings, TargetError


def physical_ipus(target: Target) -> tuple[int, ...]:
    """By shard, the number of the IPU in the machine.

    ``zigzag`` counts pair by pair, ``snake`` turns round in every second pair, so that each shard is next to the one
    before, ``hoof`` goes up one side and down the other, so that the last is next to the first as well. ``auto`` is
    ``zigzag``.

    >>> [physical_ipus(Target(ipus=8, selection_order=order)) for order in ("zigzag", "snake", "hoof")]
    [(0, 1, 2, 3, 4, 5, 6, 7), (0, 1, 3, 2, 4, 5, 7, 6), (0, 2, 4, 6, 7, 5, 3, 1)]
    """
    count = target.ipus
    if target.selection_order == "snake":
        return tuple(i - i % 4 + (i % 4 if i % 4 < 2 else 5 - i % 4) for i in range(count))
    if target.selection_order == "hoof":
        return (*range(0, count, 2), *reversed(range(1, count, 2)))
    return tuple(range(count))


@lru_cache(maxsize=64)
def passed_on(ipus: tuple[int, ...]) -> IntArray:
    """True where what goes from shard ``i`` to shard ``j`` passes through IPU ``p``, shape ``(shards, shards, ipus)``.

    It goes along its side of the ladder first, and then across.

    >>> [np.flatnonzero(passed_on((0, 1, 2, 3))[0, shard]).tolist() for shard in range(4)]
    [[], [], [], [2]]
    """
    numbers = np.array(ipus)
    rows, sides = np.divmod(numbers, 2)
    every = np.arange(max(ipus) + 1)
    row, side = np.divmod(every, 2)
    low, high = np.minimum(rows[:, None], rows), np.maximum(rows[:, None], rows)
    on_the_way = (low[..., None] <= row) & (row <= high[..., None]) & (side == sides[:, None, None])
    ends = (every == numbers[:, None, None]) | (every == numbers[None, :, None])
    found = (on_the_way & ~ends).astype(np.int64)
    found.flags.writeable = False  # it is cached
    return found


def replication_factor(ipus: int, shards: int) -> int:
    """The number of replicas of a program that uses ``shards`` IPUs on a device of ``ipus``.

    Raises:
        TargetError: the device has too few IPUs, or some would be left over.

    >>> replication_factor(ipus=8, shards=2)
    4
    """
    if ipus % shards or ipus < shards:
        raise TargetError(
            f"a program on {shards} IPUs cannot be replicated over {ipus} IPUs; use a multiple of {shards}",
            settings=(Settings(ipus=shards),),
        )
    return ipus // shards
