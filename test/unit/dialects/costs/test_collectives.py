from dataclasses import replace

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.collectives import Collective
from ipu_mlir.dialects.costs.collectives import bytes_received, cost_of_collective
from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.parsing import parse_module

TEXT = """
func.func @main(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  "ipu.collective"(%x, %y) {kind = "all_reduce", op = "add"} : (memref<1000xf32>, memref<1000xf32>) -> ()
  "ipu.collective"(%x, %y) {kind = "broadcast", ipu.merged} : (memref<1000xf32>, memref<1000xf32>) -> ()
  "ipu.collective"(%x, %y) {kind = "assume_equal"} : (memref<1000xf32>, memref<1000xf32>) -> ()
  return
}
"""


@pytest.mark.parametrize(
    ("kind", "received"),
    [("all_reduce", 150), ("all_gather", 300), ("reduce_scatter", 75), ("all_to_all", 75), ("broadcast", 100)],
)
def test_what_a_ring_of_four_hands_to_each(kind: str, received: int) -> None:
    assert bytes_received(Collective(kind), 100, 4) == received
    if kind != "all_gather":
        assert bytes_received(Collective(kind), 100, 1) == 0


@pytest.fixture(params=[1_000])
def ops(request):
    """An all-reduce, a merged broadcast and an assumption, of so many elements."""
    module = parse_module(TEXT.replace("1000x", f"{request.param}x"), ipu.context())
    yield [op.operation for op in module.body.operations[0].regions[0].blocks[0].operations][:3]
    del module  # which the ops live in


def test_links_and_the_sync_of_all_replicas(ops) -> None:
    target = Target(replicas=4)
    doubling = round(2 * 4000 * target.clock_hz / 64e9) + 3 * 400
    pieces = round(4000 * target.clock_hz / 128e9) + 2 * 400
    assert [cost_of_collective(op, target) for op in ops] == [
        (6000, pytest.approx(doubling, abs=1), 600),
        (4000, pytest.approx(pieces, abs=1), 0),  # it has one sync with the one before
        (0, 0, 0),
    ]


def test_small_ones_take_the_time_of_their_hops(ops) -> None:
    op = ops[0]
    cycles = [cost_of_collective(op, Target(replicas=replicas))[1] for replicas in (2, 4, 16, 64)]
    assert cycles == sorted(cycles)
    assert cycles[3] > 63 * 400
    free = replace(IPU2, hop_cycles=0)
    assert cost_of_collective(op, Target(replicas=64), free)[1] < 400


@pytest.mark.parametrize("ops", [10_000_000], indirect=True)
def test_ipus_of_a_replica_share_what_joins_it_to_the_next(ops) -> None:
    op = ops[0]
    one, two, four = (cost_of_collective(op, Target(replicas=8, ipus=ipus))[1] for ipus in (1, 2, 4))
    assert one == two == pytest.approx(four, rel=0.01)
    assert one == pytest.approx(7e7 * IPU2.clock_hz / 128e9, rel=0.01)


@pytest.mark.parametrize("ops", [10_000_000], indirect=True)
def test_racks_reduce_within_and_then_over_gateways(ops) -> None:
    op = ops[0]
    rack, racks = (cost_of_collective(op, Target(replicas=replicas))[1] for replicas in (64, 256))
    beyond = 2 * 4e7 * 3 / 4 / (16 * 25e9) * IPU2.clock_hz + 2 * 3 * 400
    assert racks == pytest.approx(rack + beyond, rel=0.01)
