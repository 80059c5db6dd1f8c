"""Random programs on variables, remote rows, queues and fifos, run by run against NumPy.

A few fixed ones are part of every test run; ``make test-slow`` draws more: ``IPU_RANDOM_PROGRAMS`` says how many (2000
without it), ``IPU_RANDOM_SEED`` from which. ``python test/e2e/support/stateful/campaign.py`` draws any number and makes
those smaller that fail.
"""

import os

import pytest
from support.stateful.campaign import problem, smallest
from support.stateful.checking import check
from support.stateful.drawing import Entry, Program, Variable, program
from support.stateful.statements import Assign, Block, Branch, Form, Loop, Outlined, Read, Scan, Switch, Update

import ipu_mlir as ipu

FEW = 24
MANY, SEED = int(os.environ.get("IPU_RANDOM_PROGRAMS", "2000")), int(os.environ.get("IPU_RANDOM_SEED", "100000"))

KEPT = {
    "an update": (Form("set", 0.0, 0.0),),
    "an update in a loop": (Loop("for", 2, (Form("swap", 0.9, 0.0),), (0.0,), is_swapped=False),),
    "an update in a while": (Loop("while", 2, (Form("shift", 0.9, 0.0),), (0.0,), is_swapped=False),),
    "an update in a branch": (Branch(0, None, (Read("v"), Form("set", 0.9, 0.0)), (), (0.0,)),),
    "an update in a scan": (Scan((Form("set a constant", 0.9, 0.0),), 0.0, 0.0),),
    "an update in an outlined function": (Outlined((Form("set", 0.9, 0.0),), (0.0,), 2),),
    "the old value beside an outlined update": (Outlined((Update("v", "sort", 0.0, keeps_old=False),), (0.0,), 1),),
    "an outlined update that nobody sees": (
        Outlined((Update("v", "sort", 0.0, keeps_old=False),), (0.0,), 1),
        Assign("v", "other", 0.9, is_swapped=True),
    ),
    "an update in a branch that is never taken": (
        Switch(
            ((Switch(((), (Update("v", "a slice of itself", 0.9, keeps_old=False),), ()), 0.0, (0.9,)),), (), ()),
            0.0,
            (0.9, 0.4),
        ),
    ),
}
"""Programs on one variable ``v``, written in the statements of the random ones."""


@pytest.mark.parametrize("seed", range(FEW))
def test_random_programs_on_state(seed: int) -> None:
    check(program(seed))


@pytest.mark.slow
def test_many_random_programs_on_state() -> None:
    wrong = []
    for seed in range(SEED, SEED + MANY):
        try:
            check(program(seed))
        except (AssertionError, ipu.IpuError, RuntimeError) as error:
            wrong.append(f"{seed}: {type(error).__name__} {error}")
    assert not wrong, f"{len(wrong)} of {MANY} from {SEED} on:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("tiles", [1, 4])
@pytest.mark.parametrize("form", KEPT)
def test_programs_in_the_statements_of_the_random_ones(form: str, tiles: int) -> None:
    check(_on_one_variable(KEPT[form], tiles))


def test_a_wrong_variable_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.stateful.machines.Tracer.assign", lambda self, name, value: None)
    with pytest.raises(AssertionError, match="v afterwards"):
        check(_on_one_variable((Update("v", "reverse", 0.0, keeps_old=True),), 4))


def test_programs_that_differ_are_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.stateful.machines.Tracer.assign", lambda self, name, value: None)
    update = Update("v", "reverse", 0.0, keeps_old=False)
    around = Outlined((Form("swap", 0.9, 0.0), update), (0.0,), 1)
    least = smallest(_on_one_variable((Read("v"), around), 4), lambda each: "v afterwards" in problem(each))
    assert (least.tiles, least.entries["f"].body, len(least.runs)) == (1, (update,), 1)


def _on_one_variable(body: Block, tiles: int) -> Program:
    kind = ((4,), "float32")
    return Program(
        seed=1,
        replicas=1,
        ipus=1,
        tiles=tiles,
        kernels="never",
        variables=(Variable("v", kind, is_offloaded=False),),
        rows=kind,
        partitions_rows=False,
        fed=kind,
        given=kind,
        entries={"f": Entry((), body, 1)},
        runs=(("f", 1, False), ("f", 0, True), ("f", 2, False)),
        in_session=False,
    )
