"""Plans of sorts over tiles: their steps sort, and the fastest one is taken."""

import numpy as np
import pytest

from ipu_mlir.dialects.codelets.sort_tuples import SORT_TUPLES
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.passes.raising.ranks.sort_plan import SortPlan, plan_sort

MACHINE = machine_of(Target())


@pytest.mark.parametrize("rows", [1, 2, 4, 8, 32])
@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("width", [1, 3])
def test_steps_of_a_plan_sort(rows, parts, width):
    plan = SortPlan(rows, parts, width, cycles=0)
    keys = np.random.default_rng(rows).integers(0, 9, plan.elements).astype(np.int32)
    values = [keys, np.arange(plan.elements, dtype=np.int32)]
    for shape in plan.steps():
        assert np.prod(shape) == plan.elements
        values = [each.ravel() for each in SORT_TUPLES.vectorised(*(each.reshape(shape) for each in values))]
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(values[1], order)
    np.testing.assert_array_equal(values[0], keys[order])


def test_plan_takes_more_tiles_where_that_is_faster():
    few, many = (plan_sort(1 << 16, (4, 4), tiles, MACHINE) for tiles in (16, 1472))
    assert few.rows == 32
    assert many.rows > few.rows
    assert many.cycles < few.cycles / 10


def test_million_takes_about_a_millisecond():
    plan = plan_sort(1 << 20, (4, 4, 4), 1472, MACHINE)
    assert plan.cycles < 1.5e-3 * 1.325e9
    assert plan.elements >= 1 << 20


def test_no_plan_where_no_tile_has_room():
    assert plan_sort(1 << 20, (4, 4), 4, MACHINE) is None
