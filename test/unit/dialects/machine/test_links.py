"""What links carry: by the shortest way of each pair of IPUs, walked one by one."""

from itertools import pairwise

import numpy as np
import pytest

from ipu_mlir.dialects.machine.links import link_cycles, link_loads
from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.dialects.machine.selection import physical_ipus
from ipu_mlir.dialects.machine.target import SELECTION_ORDERS, Target


def way(first: int, last: int) -> list[int]:
    """The IPUs from one to another, along a side of the ladder and then across."""
    step = 2 if last // 2 > first // 2 else -2
    along = [*range(first, first % 2 + last // 2 * 2, step), first % 2 + last // 2 * 2]
    return along if along[-1] == last else [*along, last]


@pytest.mark.parametrize("order", SELECTION_ORDERS)
@pytest.mark.parametrize("count", [2, 4, 6, 16])
def test_loads_are_those_of_every_way_walked(order, count):
    if order == "snake" and count % 4 == 2:
        return  # it counts in fours
    ipus = physical_ipus(Target(ipus=count, selection_order=order))
    between = np.random.default_rng(count).integers(0, 100, (count, count))
    np.fill_diagonal(between, 0)
    links: dict[tuple[int, int], int] = {}
    for i, first in enumerate(ipus):
        for j, last in enumerate(ipus):
            for link in pairwise(way(first, last)):
                links[link] = links.get(link, 0) + int(between[i, j])
    given = [sum(load for (a, _), load in links.items() if a == ipu) for ipu in ipus]
    taken = [sum(load for (_, b), load in links.items() if b == ipu) for ipu in ipus]
    assert link_loads(between, ipus) == (max(links.values()), max(given + taken))


def test_neighbours_share_one_connection_and_an_ipu_all_of_its_links():
    one = np.zeros((6, 6), dtype=np.int64)
    one[0, 2] = 64_000
    assert link_cycles(one, tuple(range(6)), IPU2) == 1325
    one[0, 1] = 64_000
    assert link_cycles(one, tuple(range(6)), IPU2) == 1325  # another link
    star = np.zeros((6, 6), dtype=np.int64)
    star[2, [0, 3, 4]] = 64_000
    assert link_cycles(star, tuple(range(6)), IPU2) == 1590  # 192,000 B over 160 GB/s
    assert link_cycles(0 * star, tuple(range(6)), IPU2) == 0
