"""Which IPU each shard is, and what lies between two of them."""

import numpy as np
import pytest

from ipu_mlir.dialects.machine.selection import passed_on, physical_ipus, replication_factor
from ipu_mlir.dialects.machine.target import SELECTION_ORDERS, Target
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


@pytest.mark.parametrize("order", SELECTION_ORDERS)
def test_what_lies_between_two_ipus(order):
    ipus = physical_ipus(Target(ipus=8, selection_order=order))
    between = passed_on(ipus)
    for i, first in enumerate(ipus):
        for j, second in enumerate(ipus):
            distance = abs(first // 2 - second // 2) + (first % 2 != second % 2)
            assert between[i, j].sum() == max(0, distance - 1)
    neighbours = [between[i, i + 1].sum() == 0 for i in range(7)]
    assert all(neighbours) == (order in ("snake", "hoof"))


def test_replicas_of_a_device():
    assert [replication_factor(8, shards) for shards in (1, 2, 4, 8)] == [8, 4, 2, 1]
    for ipus, shards in ((4, 3), (2, 4)):
        with pytest.raises(TargetError, match=f"on {shards} IPUs cannot be replicated over {ipus} IPUs"):
            replication_factor(ipus, shards)


def test_an_order_that_does_not_exist():
    with pytest.raises(TargetError, match="selection_order as one of auto, zigzag, snake, hoof, got 'spiral'"):
        Target(selection_order="spiral")


def test_cached_answers_are_read_only():
    assert not passed_on((0, 1, 2, 3)).flags.writeable
    assert not np.any(passed_on((0, 1)))
