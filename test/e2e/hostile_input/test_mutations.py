"""Programs with one mistake in them: the verifiers reject each, and without verifiers the per-tile executor notices.

The machine is 16 tiles. The mistakes are made in the supersteps of every program of the corpus, and of one small
program for every kind of op that moves data in its own way: an exchange that is missing, a buffer that lies a tile
further on, vertices without their last part, vertices with their parts on other tiles. Each changes what some vertex
reads or writes on its tile, and so each is an error. There are two exceptions:

- A buffer that no vertex reads may lie anywhere: the window of a pool has only a shape. It changes no result.
- An exchange may fill part of a buffer that holds something already: a padded tensor is a fill, and then the elements
  inside. Without that exchange the program is legal, but it is another program: its results differ.

What moves no error along is an argument or a constant that only exchanges read: these then fetch it from elsewhere.
"""

from collections.abc import Callable, Sequence
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from support.corpus import programs
from support.damage import mutations
from support.damage.call import CALL
from support.damage.kinds import KINDS as SMALL_PROGRAMS
from support.damage.moved_sources import moved_sources
from support.damage.mutant_runs import Subject, is_noticed, overwrites, refusal, run_unverified

import ipu_mlir as ipu

NAMES = [*programs(), *SMALL_PROGRAMS, "call"]
KINDS = {
    "lost-exchange": mutations.lost_exchanges,
    "moved-buffer": mutations.moved_buffers,
    "dropped-part": mutations.dropped_parts,
    "reversed-parts": mutations.reversed_parts,
}
WITHOUT_EXCHANGES = {"jax_math_zoo"}
"""Their arguments lie where their vertices run."""
WITHOUT_FREE_SOURCES = {
    "jax_math_zoo",
    "scan",
    "summed-area",
    "while",
    "call",
}
"""Vertices read all their arguments and constants where these lie."""
OVERWRITE = {"convolution": 1}
"""How many exchanges fill part of a buffer that holds something already."""
PER_KIND = 2
"""How many mutants of each kind and program run in the short test."""
SMALL_ATOL = 1e-5

Mutants = Sequence[tuple[str, str]]


@cache
def subject(name: str) -> Subject:
    if name == "call":
        return CALL
    target = ipu.Target(tiles_per_ipu=16)
    if name in SMALL_PROGRAMS:
        case = SMALL_PROGRAMS[name]
        expected = case.expected_results()
        with patch("ipu_mlir.passes.placement.partition.function_parts.runs_on_one_tile", return_value=False):
            text = ipu.compile(case.text, target=target).mlir()  # whose loops exchange
        return Subject(text, list(case.inputs), expected, (SMALL_ATOL,) * len(expected))
    program = programs()[name]
    text = ipu.compile(program.mlir, target=target).mlir()
    return Subject(text, program.inputs, program.expected, program.atol, program.ill_conditioned)


@cache
def mutants(name: str, kind: str) -> Mutants:
    return KINDS[kind](subject(name).supersteps)


def spread(found: Mutants, count: int) -> Mutants:
    """``count`` of ``found``, from its first to its last.

    >>> spread([("a", ""), ("b", ""), ("c", "")], count=2)
    [('a', ''), ('c', '')]
    """
    places = np.linspace(0, len(found) - 1, min(count, len(found))).round().astype(int)
    return [found[int(place)] for place in places]


def _is_legal_and_different(name: str, description: str, text: str) -> bool:
    """Whether a mutant has lost an exchange that overwrites, runs on the strict executor, and gives other results."""
    if not overwrites(subject(name), description):
        return False
    results = run_unverified(text, subject(name).inputs, strict=True)
    return results is not None and bool(subject(name).disagreements(results))


def _is_harmless(name: str, kind: str, text: str) -> bool:
    """Whether a mutant has a moved buffer, and is right all the same, on the strict executor."""
    results = run_unverified(text, subject(name).inputs, strict=True)
    return kind == "moved-buffer" and results is not None and not subject(name).disagreements(results)


@pytest.mark.parametrize("name", NAMES)
def test_the_program_itself_is_right(name: str) -> None:
    assert refusal(subject(name).supersteps) is None
    results = run_unverified(subject(name).supersteps, subject(name).inputs, strict=True)
    assert results is not None
    assert subject(name).disagreements(results) == []


def _check_refusals(name: str, kind: str, choose: Callable[[Mutants], Mutants]) -> int:
    """How many of the chosen mutants are legal programs with other results; every other one is refused at its place."""
    refusals = {mutant: refusal(mutant[1]) for mutant in choose(mutants(name, kind))}
    accepted = [mutant for mutant, message in refusals.items() if message is None]
    different = [mutant for mutant in accepted if _is_legal_and_different(name, *mutant)]
    rest = [mutant for mutant in accepted if mutant not in different]
    assert [description for description, text in rest if not _is_harmless(name, kind, text)] == []
    assert [message for message in refusals.values() if message and not message.startswith("<text>:")] == []
    return len(different)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_verifiers_reject_a_mutant_at_its_place(name: str, kind: str) -> None:
    assert bool(mutants(name, kind)) == (kind != "lost-exchange" or name not in WITHOUT_EXCHANGES)
    different = _check_refusals(name, kind, lambda found: spread(found, PER_KIND))
    assert different <= (OVERWRITE.get(name, 0) if kind == "lost-exchange" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_verifiers_reject_every_mutant_at_its_place(name: str, kind: str) -> None:
    different = _check_refusals(name, kind, lambda found: found)
    assert different == (OVERWRITE.get(name, 0) if kind == "lost-exchange" else 0)


def _check_strict(name: str, choose: Callable[[Mutants], Mutants]) -> None:
    ran = []
    for kind in KINDS:
        for description, text in choose(mutants(name, kind)):
            if refusal(text) is not None and run_unverified(text, subject(name).inputs, strict=True) is not None:
                ran.append(description)
    assert ran == []


def _check_lenient(name: str, choose: Callable[[Mutants], Mutants]) -> None:
    unnoticed = []
    for kind in KINDS:
        for description, text in choose(mutants(name, kind)):
            results = run_unverified(text, subject(name).inputs, strict=False)
            if results is None or is_noticed(results, subject(name), description):
                continue
            if refusal(text) is not None or not _is_harmless(name, kind, text):
                unnoticed.append(description)
    assert unnoticed == []


@pytest.mark.parametrize("name", NAMES[::4])
def test_without_verifiers_the_strict_executor_refuses_a_mutant(name: str) -> None:
    _check_strict(name, lambda found: found[:1])


@pytest.mark.parametrize("name", NAMES[1::4])
def test_without_verifiers_the_lenient_executor_notices_a_mutant(name: str) -> None:
    _check_lenient(name, lambda found: found[-1:])


@pytest.mark.slow
@pytest.mark.parametrize("check", [_check_strict, _check_lenient])
@pytest.mark.parametrize("name", NAMES)
def test_without_verifiers_the_per_tile_executor_notices_every_mutant(
    name: str, check: Callable[[str, Callable[[Mutants], Mutants]], None]
) -> None:
    check(name, lambda found: found)


@pytest.mark.parametrize("name", NAMES)
def test_a_source_that_a_vertex_reads_must_not_move(name: str) -> None:
    illegal = [moved for moved in moved_sources(subject(name).supersteps) if not moved.is_legal]
    assert illegal or name not in WITHOUT_EXCHANGES
    some = illegal[:: max(1, len(illegal) // PER_KIND)]
    assert [moved.description for moved in some if refusal(moved.text()) is None] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_source_that_only_exchanges_read_may_move(name: str) -> None:
    legal = [moved for moved in moved_sources(subject(name).supersteps) if moved.is_legal]
    assert bool(legal) == (name not in WITHOUT_FREE_SOURCES)
    for moved in legal[:PER_KIND]:
        text = moved.text()
        assert refusal(text) is None, moved.description
        results = run_unverified(text, subject(name).inputs, strict=True)
        assert results is not None, moved.description
        assert subject(name).disagreements(results) == []
