"""Published figures beside estimates: every point has a source, and those of one tile are as close as the page says."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))  # the benchmarks are no installed package

from benchmarks.point_programs import PROGRAMS
from benchmarks.points import PAGE, Point, Score, main, read_points, scores_of, table, written


def test_every_point_is_another_and_has_a_source() -> None:
    points = read_points()
    assert len({point.id for point in points}) == len(points)
    assert all(point.source and point.unit and point.published > 0 for point in points)
    assert set(PROGRAMS) <= {point.kind for point in points}


def test_scaled_additions_are_within_five_percent() -> None:
    scores = list(scores_of(point for point in read_points() if point.kind == "vertex_scaled_add"))
    assert len(scores) > 2
    assert all(abs(score.ratio - 1) < 0.05 for score in scores)


@pytest.mark.parametrize("number", [0, 2])  # 4 and 16 columns
def test_products_with_few_columns_take_the_time_of_their_weights(number: int) -> None:
    (score,) = scores_of(point for point in read_points() if point.id == f"popsparse_dense_f16/{number}")
    assert score.is_near


def test_table_counts_what_is_near_and_names_what_is_not_compared() -> None:
    points = [
        Point(f"p/{n}", "p", {}, published, "cycles", "a paper", "read") for n, published in enumerate((100, 200))
    ]
    rows = table([Score(points[0], 90), Score(points[1], 100)], [Point("q/0", "q", {}, 1, "cycles", "a page", "read")])
    assert "| `p` | 2 | 1 | 1.49 | 1.11 | 2.00 | a paper |" in rows
    assert "`q` (1)" in rows


def test_page_keeps_what_is_around_the_table() -> None:
    page = PAGE.read_text()
    assert written(written(page, "a row"), "another") == written(page, "another")
    with pytest.raises(ValueError, match="the page has no"):
        written("no table", "a row")


def test_only_some_kinds_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--smoke"]) == 0
    printed = capsys.readouterr().out
    assert "vertex_scaled_add/0" in printed
    assert "popsparse" not in printed
