"""Every op that moves data, on every form of a view: it does what it does with the same numbers as a whole tensor.

Ops are those that the dialect has, and those of upstream that yield tensors. A short run tries a third
of the ops together on each form of a view; ``make test-slow`` tries each op by itself in all places, from all roots.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.moved_views import OF_PROGRAM, PLACES, Machine, moved, roots_in, whole
from support.moving_ops import Use, ops_of_dialect, uses_of_dialect, uses_upstream
from support.views import VIEWS

MACHINES = [Machine(tiles, *replicas) for replicas in ((1,), (2,), (2, True)) for tiles in (1, 4, 16)]
WAYS = [(place, root) for place in PLACES for root in roots_in(place)]
HELD = {"ipu.place source"}
"""A hint about tiles of the first IPU, which is refused beside a use on the second."""


def uses(name: str, machine: Machine) -> dict[str, Use]:
    """The uses of a view on a machine; of numbers that differ nothing assumes that they are equal."""
    shape = VIEWS[name].shape
    found = uses_of_dialect(shape, machine.replicas) | uses_upstream(shape)
    return {each: use for each, use in found.items() if not (machine.differ and each.startswith("ipu.assume_equal"))}


def check(capfd: Any, name: str, way: tuple[str, str], chosen: list[Use], machine: Machine) -> None:
    """Both executors do the same with a view as with a whole tensor."""
    place, root = way
    wanted = whole(VIEWS[name], root, place, chosen, machine).effects(capfd, per_tile=False)
    program = moved(VIEWS[name], root, place, chosen, machine)
    for per_tile in (False, True):
        found = program.effects(capfd, per_tile=per_tile)
        assert found.keys() == wanted.keys()
        for each, value in wanted.items():
            np.testing.assert_equal(found[each], value, f"{each}, {'per-tile' if per_tile else 'fast'} executor")


def test_the_dialect_has_ops_that_take_tensors() -> None:
    assert {"ipu.put", "ipu.print", "ipu.all_reduce", "ipu.remote_store", "ipu.fifo"} < ops_of_dialect().keys()
    found = {name.partition(" ")[0] for view in ("row", "first columns") for name in uses(view, Machine(4, 2))}
    assert ops_of_dialect().keys() <= found


def test_what_is_put_is_what_the_view_shows(capfd: Any) -> None:
    chosen = uses_of_dialect(VIEWS["column"].shape, 1)["ipu.put value"]
    found = moved(VIEWS["column"], "carried", "loop", [chosen], Machine(4)).effects(capfd, per_tile=False)
    np.testing.assert_equal(found["put_value"][0], [[2, 8, 14, 20], [3, 9, 15, 21], [4, 10, 16, 22]])


@pytest.mark.parametrize("name", VIEWS)
def test_ops_take_views(name: str, capfd: Any) -> None:
    number = list(VIEWS).index(name)
    way, machine = WAYS[number * 5 % len(WAYS)], MACHINES[number % len(MACHINES)]
    if way[1] in OF_PROGRAM:
        machine = replace(machine, differ=False)
    together = [use for each, use in uses(name, machine).items() if each not in HELD]
    check(capfd, name, way, together[number % 3 :: 3], machine)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize("name", VIEWS)
def test_each_op_takes_views(name: str, way: tuple[str, str], capfd: Any) -> None:
    machines = MACHINES if way[1] not in OF_PROGRAM else [each for each in MACHINES if not each.differ]
    for number, each in enumerate(sorted({use for machine in machines for use in uses(name, machine)})):
        machine = machines[(number + len(name)) % len(machines)]
        if each in uses(name, machine):
            check(capfd, name, way, [uses(name, machine)[each]], machine)
