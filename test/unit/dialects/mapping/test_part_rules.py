"""Rules for the parts of an op."""

import pytest

from ipu_mlir.dialects.mapping.part_rules import broken_part_rule
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts


@pytest.mark.parametrize(
    ("loops", "extents", "multiples"),
    [
        ([], (), ()),
        ([(2, 4, 1)], (4,), (1,)),
        ([(3, 4, 1)], (4,), (1,)),
        ([(4, 4, 0)], (4,), (0,)),
        ([(9, 4, 0)], (4,), (0,)),
        ([(2, 4, 2), (2, 4, 1), (3, 3, 0)], (4, 4, 3), (1, 1, 0)),
        ([(6, 10, 1)], (10,), (3,)),
        ([(10, 10, 0)], (10,), (3,)),
    ],
)
def test_good_parts(loops, extents, multiples):
    assert broken_part_rule(Parts(tuple(PartLoop(*loop) for loop in loops)), extents, multiples) is None


@pytest.mark.parametrize(
    ("loops", "extents", "multiples", "message"),
    [
        ([], (4,), (1,), "has parts of 0 loops, but the op has 1"),
        ([(2, 4, 1)], (5,), (1,), "has parts for 4 iterations of loop d0, which has 5"),
        ([(4, 4, 0), (0, 4, 1)], (4, 4), (1, 1), "cuts loop d1 into blocks of 0"),
        ([(-2, 4, 1)], (4,), (1,), "cuts loop d0 into blocks of -2"),
        ([(2, 4, 1)], (4,), (0,), "cuts the reduction loop d0 into blocks of 2; one vertex must run all 4"),
        ([(4, 10, 1)], (10,), (3,), "its results are kept per block of 3; cut it at multiples of that"),
        ([(2, 4, 0)], (4,), (1,), "puts two of its parts on one tile"),
        ([(2, 4, 1), (2, 4, 1)], (4, 4), (1, 1), "puts two of its parts on one tile"),
    ],
)
def test_broken_parts(loops, extents, multiples, message):
    assert message in broken_part_rule(Parts(tuple(PartLoop(*loop) for loop in loops)), extents, multiples)
