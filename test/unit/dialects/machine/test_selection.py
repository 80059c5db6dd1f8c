"""Which IPU each shard is."""

import pytest

from ipu_mlir.dialects.machine.selection import physical_ipus, replication_factor
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import TargetError


@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_orders_are_the_published_formulas(count):
    def found(order):
        return list(physical_ipus(Target(ipus=count, selection_order=order)))

    assert found("auto") == found("zigzag") == list(range(count))
    hoof = [2 * i if i < count / 2 else count - 1 - 2 * (i % (count // 2)) for i in range(count)]
    assert found("hoof") == hoof
    if count % 4 == 0:
        assert found("snake") == [i - m + (m if m < 2 else 5 - m) for i in range(count) for m in [i % 4]]


def test_replicas_of_a_device():
    assert [replication_factor(8, shards) for shards in (1, 2, 4, 8)] == [8, 4, 2, 1]
    for ipus, shards in ((4, 3), (2, 4)):
        with pytest.raises(TargetError, match=f"on {shards} IPUs cannot be replicated over {ipus} IPUs"):
            replication_factor(ipus, shards)


def test_an_order_that_does_not_exist():
    with pytest.raises(TargetError, match="selection_order as one of auto, zigzag, snake, hoof, got 'spiral'"):
        Target(selection_order="spiral")
