"""Small programs for every kind of op, on 1, 4, 7 and 64 tiles: both executors agree with each other and with NumPy."""

import pytest
from cases import contractions, elementwise, reductions, scalar_ops, views
from support.case import TARGETS, Case

CASES = {case.name: case for table in (elementwise.CASES, contractions.CASES, reductions.CASES, views.CASES, scalar_ops.CASES) for case in table}


@pytest.mark.parametrize("tiles", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_both_executors_give_what_numpy_gives(name: str, tiles: int) -> None:
    CASES[name].check(TARGETS[tiles])
