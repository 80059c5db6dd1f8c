"""The budget for temporaries is told in steps: a small allocation does not change what a planner is asked."""

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import one_tile
from ipu_mlir.passes.placement.partition.memory_budget import MemoryBudget


def test_room_falls_in_steps_and_never_exceeds_what_is_left():
    budget = MemoryBudget(Target(tiles_per_ipu=4))
    told = [budget.bytes_left(range(4))]
    for taken in range(1000, 200_001, 1000):
        budget.take(one_tile(250), element_size=4)
        told.append(budget.bytes_left(range(4)))
        assert told[-1] <= 2 * (638_976 * 15 // 16 - taken) // 3 < told[-1] + 638_976 // 128
    assert told == sorted(told, reverse=True)
    assert 20 < len(set(told)) < 30
