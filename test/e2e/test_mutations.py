"""Programs with one mistake in them: the verifiers reject each, and without verifiers the per-tile executor notices.

The machine is 16 tiles. The mistakes are made in the supersteps of every program of the corpus: an exchange that is
missing, a buffer that lies a tile further on, vertices without their last part, vertices with their parts on other
tiles. Each changes what some vertex reads or writes on its tile, and so each is an error.

What moves no error along is an argument or a constant that only exchanges read: these then fetch it from elsewhere.
"""

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from support import mutations
from support.compare import disagreements
from support.corpus import Program, programs
from support.moved_sources import MovedSource, moved_sources
from support.unverified import parse_unverified

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.errors import CompileError, RunError
from ipu_mlir.dialects.parsing import parse_module
from ipu_mlir.passes.check_supersteps import CheckSupersteps
from ipu_mlir.passes.manager import run_steps
from ipu_mlir.passes.steps import PassStep
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

NAMES = list(programs())
KINDS = {
    "lost-exchange": mutations.lost_exchanges,
    "moved-buffer": mutations.moved_buffers,
    "dropped-part": mutations.dropped_parts,
    "reversed-parts": mutations.reversed_parts,
}
WITHOUT_EXCHANGES = {"jax_math_zoo"}  # one element-wise function: its argument lies where its vertices run
PER_KIND = 2
"""How many mutants of each kind and program run in the short test."""


@cache
def supersteps(name: str) -> str:
    return ipu.compile(programs()[name].mlir, target=ipu.Target(tiles_per_ipu=16)).mlir()


@cache
def mutants(name: str, kind: str) -> list[tuple[str, str]]:
    return list(KINDS[kind](supersteps(name)))


def spread(found: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """``count`` of ``found``, from its first to its last.

    >>> spread([("a", ""), ("b", ""), ("c", "")], count=2)
    [('a', ''), ('c', '')]
    """
    places = np.linspace(0, len(found) - 1, min(count, len(found))).round().astype(int)
    return [found[place] for place in places]


def refusal(text: str) -> str | None:
    """What the verifiers and the check of whole programs say about a module; None if they have nothing against it."""
    with dialect.context() as context:
        try:
            module = parse_module(text, context)
            run_steps(module, [PassStep(CheckSupersteps())])
        except CompileError as error:
            return str(error)
    return None


def run_unverified(text: str, program: Program, strict: bool) -> list[np.ndarray] | None:
    """What the per-tile executor makes of a module that no verifier has seen; None if it refuses."""
    with dialect.context():
        try:
            return PerTileExecutor(parse_unverified(text), strict=strict).run(program.inputs)
        except RunError:
            return None


def shows_poison(results: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Whether a float result has NaN where there should be none; integers, which have no NaN, differ instead."""
    for got, want in zip(results, expected, strict=True):
        if want.dtype.kind == "f" and (np.isnan(got) & ~np.isnan(want)).any():
            return True
        if want.dtype.kind != "f" and not np.array_equal(got, want):
            return True
    return False


def is_noticed(results: list[np.ndarray], program: Program, mutated_line: str) -> bool:
    """Whether results show that something is wrong: by poison, but for one case.

    No integer and no boolean is poison for sure. Where an exchange of these is lost, floats that are computed from
    them are wrong, and need not be NaN.
    """
    if shows_poison(results, program.expected):
        return True
    loses_integers = mutated_line.startswith('"ipu.exchange"') and not re.search(r"[<x]f\d+, ", mutated_line)
    return loses_integers and bool(disagreements(results, program.expected, program.atol, program.ill_conditioned))


def line_of(name: str, description: str) -> str:
    """The line of the program that the description of a mutant names."""
    number = re.search(r":(\d+):\d+\)", description)
    assert number is not None, description
    return supersteps(name).splitlines()[int(number[1]) - 1].strip()


@pytest.mark.parametrize("name", NAMES)
def test_the_verifiers_accept_the_program_itself(name: str) -> None:
    assert refusal(supersteps(name)) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_verifiers_reject_every_mutant_at_its_place(name: str, kind: str) -> None:
    found = mutants(name, kind)
    assert bool(found) == (kind != "lost-exchange" or name not in WITHOUT_EXCHANGES)
    refusals = {description: refusal(text) for description, text in found}
    assert [description for description, message in refusals.items() if message is None] == []
    placeless = [message for message in refusals.values() if message and not message.startswith("<text>:")]
    assert placeless == []


def _check_execution(name: str, choose: Callable[[list[tuple[str, str]]], list[tuple[str, str]]]) -> None:
    program = programs()[name]
    ran, unnoticed = [], []
    for kind in KINDS:
        for description, text in choose(mutants(name, kind)):
            if run_unverified(text, program, strict=True) is not None:
                ran.append(description)
            results = run_unverified(text, program, strict=False)
            if results is not None and not is_noticed(results, program, line_of(name, description)):
                unnoticed.append(description)
    assert (ran, unnoticed) == ([], [])


@pytest.mark.parametrize("name", NAMES)
def test_without_verifiers_the_per_tile_executor_notices_a_mutant(name: str) -> None:
    _check_execution(name, lambda found: spread(found, PER_KIND))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_without_verifiers_the_per_tile_executor_notices_every_mutant(name: str) -> None:
    _check_execution(name, lambda found: found)


def _moved(legal: bool) -> list[tuple[str, MovedSource]]:
    return [(name, moved) for name in NAMES for moved in moved_sources(supersteps(name)) if moved.is_legal == legal]


def test_a_source_that_a_vertex_reads_must_not_move() -> None:
    found = _moved(legal=False)
    assert {name for name, _ in found} >= WITHOUT_EXCHANGES
    assert [f"{name}: {moved.description}" for name, moved in found if refusal(moved.text) is None] == []


@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT_EXCHANGES))
def test_a_source_that_only_exchanges_read_may_move(name: str) -> None:
    program = programs()[name]
    legal = [moved for moved in moved_sources(supersteps(name)) if moved.is_legal]
    assert legal
    for moved in legal:
        assert refusal(moved.text) is None, moved.description
    for moved in legal[:PER_KIND]:
        results = run_unverified(moved.text, program, strict=True)
        assert results is not None, moved.description
        assert disagreements(results, program.expected, program.atol, program.ill_conditioned) == []
