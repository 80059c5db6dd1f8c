import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.collectives import Collective
from ipu_mlir.dialects.costs.collectives import bytes_received, cost_of_collective
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


def test_links_and_the_sync_of_all_replicas() -> None:
    module = parse_module(TEXT, ipu.context())
    ops = [op.operation for op in module.body.operations[0].regions[0].blocks[0].operations][:3]
    target = Target(replicas=4)
    cycles = round(6000 * target.clock_hz / 160e9)
    assert [cost_of_collective(op, target) for op in ops] == [
        (6000, pytest.approx(cycles, abs=1), 600),
        (4000, pytest.approx(cycles * 2 / 3, abs=1), 0),  # it has one sync with the one before
        (0, 0, 0),
    ]
    halved = cost_of_collective(ops[0], Target(replicas=4, ipus=2))
    assert halved[1] == pytest.approx(cycles / 2, abs=1)
