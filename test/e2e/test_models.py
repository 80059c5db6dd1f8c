"""Models of other people's libraries give what their frameworks give, forward and in a step of training.

Every run of the tests tries the cheapest that are installed; ``make models`` and the long tests try all of them.
"""

import pytest
from models.check import measure
from models.table import CHEAPEST, KNOWN_FAILURES, PROGRAMS, entries

CHEAP = [place for place in PROGRAMS if place[0] in CHEAPEST]


def check(name: str, kind: str) -> None:
    entry = entries()[name]
    problem = measure(entry, kind).problem(entry.tolerance[kind])
    known, reason = KNOWN_FAILURES.get((name, kind), ("", ""))
    if known:
        assert problem, f"{name} {kind} agrees now: take it out of KNOWN_FAILURES"
        assert known in problem
        pytest.xfail(reason)
    assert not problem


@pytest.mark.parametrize(("name", "kind"), CHEAP, ids=map(" ".join, CHEAP))
def test_a_cheap_model_agrees(name: str, kind: str):
    check(name, kind)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), PROGRAMS, ids=map(" ".join, PROGRAMS))
def test_every_model_agrees(name: str, kind: str):
    check(name, kind)


def test_known_failures_are_of_models_in_the_table():
    installed = entries()
    assert all(kind in installed[name].kinds for name, kind in KNOWN_FAILURES if name in installed)
