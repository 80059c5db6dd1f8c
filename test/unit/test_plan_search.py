"""The search finds plans that run, and never a worse one than the planner's."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))  # the benchmarks are no installed package

from benchmarks.plan_search.__main__ import main
from benchmarks.plan_search.programs import text_of
from benchmarks.plan_search.search import search
from ipu_mlir.dialects.machine.target import Target

pytestmark = pytest.mark.pages


def test_a_search_starts_from_the_planner() -> None:
    found = search(text_of("two towers"), Target(ipus=2, tiles_per_ipu=16), tries=4)
    assert found.tries == 4 and found.ratio >= 1 and found.best.fits
    assert search(text_of("two towers"), Target(ipus=2, tiles_per_ipu=16), tries=4) == found


def test_small_updates_are_planned_well() -> None:
    """Each has tiles of its own: a search that cuts them otherwise finds nothing that is better by a tenth."""
    assert search(text_of("small updates"), Target(tiles_per_ipu=64), tries=6).ratio < 1.1


def test_the_table_has_a_row_per_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["softmax,sum of rows", "--tiles", "8", "--tries", "1"]) in (0, 1)
    head, _, _, softmax, rows, _, worst = capsys.readouterr().out.splitlines()
    assert head == "1 x 8 tiles, 1 tries, seed 0" and worst.startswith("worst ratio: ")
    assert [line.split("  ")[0] for line in (softmax, rows)] == ["softmax", "sum of rows"]
