"""Rules for the parts of an op."""

import pytest

from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.part_rules import broken_part_rule


@pytest.mark.parametrize(
    ("loops", "extents", "parallel"),
    [
        ([], (), ()),
        ([(2, 4, 1)], (4,), (True,)),
        ([(3, 4, 1)], (4,), (True,)),
        ([(4, 4, 0)], (4,), (False,)),
        ([(9, 4, 0)], (4,), (False,)),
        ([(2, 4, 2), (2, 4, 1), (3, 3, 0)], (4, 4, 3), (True, True, False)),
    ],
)
def test_good_parts(loops, extents, parallel):
    assert broken_part_rule(Parts(tuple(PartLoop(*loop) for loop in loops)), extents, parallel) is None


@pytest.mark.parametrize(
    ("loops", "extents", "parallel", "message"),
    [
        ([], (4,), (True,), "has parts of 0 loops, but the op has 1"),
        ([(2, 4, 1)], (5,), (True,), "has parts for 4 iterations of loop d0, which has 5"),
        ([(4, 4, 0), (0, 4, 1)], (4, 4), (True, True), "cuts loop d1 into blocks of 0"),
        ([(-2, 4, 1)], (4,), (True,), "cuts loop d0 into blocks of -2"),
        ([(2, 4, 1)], (4,), (False,), "cuts the reduction loop d0 into blocks of 2; one vertex must run all 4"),
        ([(2, 4, 0)], (4,), (True,), "puts two of its parts on one tile"),
        ([(2, 4, 1), (2, 4, 1)], (4, 4), (True, True), "puts two of its parts on one tile"),
    ],
)
def test_broken_parts(loops, extents, parallel, message):
    assert message in broken_part_rule(Parts(tuple(PartLoop(*loop) for loop in loops)), extents, parallel)
