"""Small programs for every kind of op: both executors agree with each other and with NumPy.

Each runs on seven tiles, where parts are ragged, and every fourth one in turn on 1, 4 or 64; all run on all four in the
slow tests.
"""

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


RAGGED = 7
OTHERS = [tiles for tiles in TARGETS if tiles != RAGGED]
SHORT = [(name, RAGGED) for name in CASES]
SHORT += [(name, OTHERS[number % len(OTHERS)]) for number, name in enumerate([*CASES][::4])]
LONG = [(name, tiles) for name in CASES for tiles in TARGETS if (name, tiles) not in set(SHORT)]


@pytest.mark.parametrize(("name", "tiles"), [*SHORT, *(pytest.param(*each, marks=pytest.mark.slow) for each in LONG)])
def test_both_executors_give_what_numpy_gives(name: str, tiles: int) -> None:
    CASES[name].check(TARGETS[tiles])
