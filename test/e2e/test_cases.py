"""Small programs for every kind of op, on 1, 4, 7 and 64 tiles: both executors agree with each other and with NumPy."""

import pytest
from cases import (
    branches,
    comparisons_and_casts,
    contractions,
    elementwise,
    float_ops,
    gathers,
    indices,
    integer_ops,
    loops,
    narrow_casts,
    narrow_floats,
    narrow_tensors,
    reductions,
    scans,
    sorts,
    views,
    windows,
)
from support.case import TARGETS, Case

TABLES = tuple(
    module.CASES
    for module in (
        elementwise,
        contractions,
        reductions,
        scans,
        sorts,
        views,
        gathers,
        indices,
        windows,
        branches,
        float_ops,
        integer_ops,
        loops,
        comparisons_and_casts,
        narrow_floats,
        narrow_casts,
        narrow_tensors,
    )
)
CASES: dict[str, Case] = {case.name: case for table in TABLES for case in table}

pytestmark = pytest.mark.filterwarnings("error")


def test_no_two_cases_share_a_name() -> None:
    assert len(CASES) == sum(map(len, TABLES))


@pytest.mark.parametrize("tiles", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_both_executors_give_what_numpy_gives(name: str, tiles: int) -> None:
    CASES[name].check(TARGETS[tiles])
