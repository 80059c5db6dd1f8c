"""Cycles of exchanges: the busiest tile, pairs that listen to the same data, links between IPUs."""

from dataclasses import replace

import numpy as np
import pytest

from ipu_mlir.dialects.costs.exchange import (
    ExchangeCost,
    cost_between,
    cycles_for_bytes,
    exchange_cycles_per_tile,
    groups_of,
    host_read_cycles,
    host_write_cycles,
    streaming_cycles,
)
from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import by_rows, linear, one_tile
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.dialects.mapping.traffic import Traffic, exchange_traffic
from ipu_mlir.dialects.mapping.views import View

SMALL = replace(IPU2, tiles_per_ipu=4)


def traffic(received: list[int], sent: list[int], local: list[int]) -> Traffic:
    return Traffic(*(np.array(each, dtype=np.int64) for each in (received, sent, local)))


def everywhere(elements: int, num_tiles: int) -> Mapping:
    return Mapping(elements, (MappingLoop(elements, elements, 1, 0), MappingLoop(1, num_tiles, 0, 1))).normalized()


def cost(source: Mapping, dest: Mapping, ipus: int = 1, element_bytes: int = 4) -> ExchangeCost:
    view = View.whole((dest.elements,))
    return cost_between((source, view), (dest, view), element_bytes, Target(ipus=ipus, tiles_per_ipu=4))


def test_the_busiest_sender_or_receiver_counts() -> None:
    moved = traffic([10, 0, 3, 0], [0, 13, 0, 0], [0, 0, 0, 9])
    assert exchange_cycles_per_tile(moved, 4, SMALL).tolist() == [10, 13, 3, 0]
    assert exchange_cycles_per_tile(moved, 4, SMALL).max() == 13
    assert exchange_cycles_per_tile(moved, 1, SMALL).max() == 4  # 13 bytes at 4 per cycle, rounded up


@pytest.mark.parametrize(("received", "sent", "cycles"), [(0, 0, 0), (1, 0, 1), (4, 5, 2), (4096, 12, 1024)])
def test_bytes_at_four_per_cycle(received: int, sent: int, cycles: int) -> None:
    assert cycles_for_bytes(received, sent, SMALL) == cycles


def test_candidates_of_a_planner_are_compared_at_once() -> None:
    cycles = cycles_for_bytes(np.array([8, 16]), np.array([20, 4]), SMALL)
    assert np.asarray(cycles).tolist() == [5, 4]


def test_neighbours_that_receive_the_same_get_it_at_twice_the_rate() -> None:
    """Tile 0 sends 8 elements to all: tiles 2 and 3 share a bus, tile 1 has its neighbour as sender."""
    found = cost(one_tile(8), everywhere(8, 4))
    assert found.busy_cycles.tolist() == [8, 8, 4, 4]
    assert (found.bytes_sent, found.bytes_received, found.bytes_received_worst) == (32, 96, 32)


def test_neighbours_share_only_what_neither_has() -> None:
    """Every tile needs all 8 elements and has 2 of them: 4 are new to both tiles of a pair, and 2 to one alone."""
    assert cost(linear(8, 4), everywhere(8, 4)).busy_cycles.tolist() == [2 + 4 // 2] * 4


def test_neighbours_of_different_groups_share_nothing() -> None:
    dest = by_rows((4, 8), 4)
    source = one_tile(32)
    assert groups_of(dest, 4).tolist() == [0, 1, 2, 3]
    assert cost(source, dest).busy_cycles.tolist() == [24, 8, 8, 8]


def test_pairs_do_not_reach_over_the_edge_of_a_chip() -> None:
    view, machine = View.whole((8,)), replace(IPU2, tiles_per_ipu=3)
    dest = everywhere(8, 6)
    moved = exchange_traffic(one_tile(8, tile=1), view, dest, view, 6)
    cycles = exchange_cycles_per_tile(moved, 4, machine, groups_of(dest, 6))
    assert cycles.tolist() == [8, 8, 8, 4, 4, 8]  # pairs (0, 1), (3, 4); tiles 2 and 5 stand alone


def test_one_chip_needs_no_links() -> None:
    found = cost(one_tile(8), everywhere(8, 4))
    assert (found.inter_ipu_cycles, found.sync_cycles) == (0, 0)


def test_what_comes_from_another_ipu_goes_over_its_links_once() -> None:
    found = cost(one_tile(1 << 20), everywhere(1 << 20, 8), ipus=2)
    assert found.bytes_from_other_ipus.tolist() == [0, 4 << 20]
    assert found.inter_ipu_cycles == -(-(4 << 20) * 1325 // 64_000)
    assert found.sync_cycles == IPU2.external_sync_cycles


def test_the_ipu_that_gives_most_counts_as_well() -> None:
    found = cost(one_tile(1 << 20), Mapping(1 << 20, (MappingLoop(1 << 17, 1 << 20, 1, 1),)), ipus=2)
    assert found.bytes_to_other_ipus.tolist() == [2 << 20, 0]
    assert found.inter_ipu_cycles == -(-(2 << 20) * 1325 // 64_000)
    scattered = cost(one_tile(1 << 20), Mapping(1 << 20, (MappingLoop(1 << 16, 1 << 20, 1, 1),)), ipus=4)
    assert scattered.bytes_from_other_ipus.tolist() == [0, 1 << 20, 1 << 20, 1 << 20]
    half = -(-(1 << 20) * 1325 // 64_000)  # of what IPUs 2 and 3 get, on each side of the ladder
    assert scattered.inter_ipu_cycles == half + 2 * IPU2.hop_cycles


def test_what_several_ipus_need_is_passed_on():
    everywhere = Mapping(1 << 20, (MappingLoop(1 << 20, 1 << 20, 1, 0), MappingLoop(1, 4, 0, 4)))
    found = cost(one_tile(1 << 20), everywhere, ipus=4)
    assert found.bytes_from_other_ipus.tolist() == [0, 4 << 20, 4 << 20, 4 << 20]
    half = -(-(2 << 20) * 1325 // 64_000)  # on each side
    assert found.inter_ipu_cycles == half + 2 * IPU2.hop_cycles


def test_an_exchange_within_each_ipu_needs_no_links() -> None:
    blocks = Mapping(64, (MappingLoop(8, 64, 1, 1),))
    dest = Mapping(64, (MappingLoop(32, 64, 1, 4), MappingLoop(1, 4, 0, 1)))
    found = cost(blocks, dest, ipus=2)
    assert found.bytes_from_other_ipus.tolist() == [0, 0]
    assert (found.inter_ipu_cycles, found.sync_cycles, found.cycles) == (0, 0, 16)


def test_links_take_bytes_by_bandwidth() -> None:
    assert host_write_cycles(np.array([16_000]), 1, IPU2) == 1325
    assert host_read_cycles(np.array([5_500, 100]), 1, IPU2) == 1325
    assert streaming_cycles(20_000, IPU2) == 1325
    assert host_write_cycles(np.array([0, 0]), 4, IPU2) == 0


def test_ipus_share_gateways_and_the_host():
    four_machines = np.full(16, 25_000)
    assert host_write_cycles(four_machines, 1, IPU2) == 16 * 1325  # all of it comes from one host
    fast_host = replace(IPU2, host_bytes_per_second=1e12)
    assert host_write_cycles(four_machines, 1, fast_host) == 4 * 1325  # four IPUs of a machine share its gateway
    assert host_write_cycles(four_machines[:1], 16, fast_host) == 4 * 1325
    assert host_write_cycles(four_machines, 1, replace(fast_host, gateway_bytes_per_second=0.0)) == 2071


def test_ipus_pass_on_what_goes_to_ipus_further_away():
    source = Mapping(4096, (MappingLoop(2048, 4096, 1, 8),), 0, 0)  # half of it on each of the shards 0 and 2
    dest = Mapping(4096, (MappingLoop(2048, 4096, 1, -8),), 0, 12)  # from 0 to 3, and from 2 to 1
    view = View.whole((4096,))

    def links(order):
        target = Target(ipus=4, tiles_per_ipu=4, selection_order=order)
        return cost_between((source, view), (dest, view), 4, target).inter_ipu_cycles

    assert links("snake") == 170  # 0 and 3, 1 and 2 are neighbours
    assert links("zigzag") == 170  # one way along each side, and then both across, in the same row
