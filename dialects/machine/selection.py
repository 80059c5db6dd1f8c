"""The IPU of a machine that each shard is."""

from ipu_mlir.dialects.machine.target import Target
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
