"""How far estimated cycles are from published figures, by kind of program.

    python -m benchmarks.points
    python -m benchmarks.points --kinds amp_vertex,heat
    python -m benchmarks.points --kinds end_to_end
    python -m benchmarks.points --write

``points.json`` has the figures with their sources. A ratio is what was published by what is estimated: above 1 the
estimate is too fast. ``--write`` puts the table into docs/trust.md. Nothing runs: programs are compiled and profiled.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

from benchmarks.point_programs import PROGRAMS

POINTS = Path(__file__).with_name("points.json")
PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
NEAR = 0.15
LONG = ("end_to_end",)
"""Kinds whose programs take minutes to compile: compared where they are asked for."""
_BEGIN, _END = "<!-- table of points: python -m benchmarks.points --write -->", "<!-- end of the table -->"


@dataclass(frozen=True)
class Point:
    """A published figure: of which program, in which unit, where it stands, and how it was read there."""

    id: str
    kind: str
    config: dict[str, Any]
    published: float
    unit: str
    source: str
    confidence: str


@dataclass(frozen=True)
class Score:
    """A figure beside the estimate."""

    point: Point
    estimated: float

    @property
    def ratio(self) -> float:
        """The cycles that were published by those that are estimated; rates have the inverse of cycles.

        >>> Score(Point("p/0", "p", {}, 110, "cycles", "s", "read"), 100).ratio
        1.1
        >>> Score(Point("p/0", "p", {}, 100, "img/s of 16 IPUs", "s", "read"), 110).ratio
        1.1
        """
        found = self.point.published / self.estimated
        return 1 / found if "/s " in self.point.unit else found

    @property
    def is_near(self) -> bool:
        return abs(self.ratio - 1) <= NEAR


def read_points(path: Path = POINTS) -> list[Point]:
    return [Point(**each) for each in json.loads(path.read_text())]


def scores_of(points: Iterable[Point]) -> Iterator[Score]:
    """The points with what their programs take."""
    for point in points:
        yield Score(point, PROGRAMS[point.kind](point.config))


def table(scores: Sequence[Score], others: Sequence[Point]) -> str:
    """A row for each kind, with its mean ratio and its extremes, as Markdown; then kinds that are compared apart."""
    rows = ["| kind | points | within 15 % | mean ratio | lowest | highest | source |", "|---|---|---|---|---|---|---|"]
    for kind in dict.fromkeys(score.point.kind for score in scores):
        own = [score for score in scores if score.point.kind == kind]
        ratios = [score.ratio for score in own]
        mean = exp(sum(map(log, ratios)) / len(ratios))
        near = sum(score.is_near for score in own)
        source = own[0].point.source + (", recalled" if own[0].point.confidence == "recalled" else "")
        rows.append(
            f"| `{kind}` | {len(own)} | {near} | {mean:.2f} | {min(ratios):.2f} | {max(ratios):.2f} | {source} |"
        )
    near, count = sum(score.is_near for score in scores), len(scores)
    rows.append(f"| all | {count} | {near} ({near / count:.0%}) | | | | |")
    if others:
        counted = {kind: sum(p.kind == kind for p in others) for kind in dict.fromkeys(p.kind for p in others)}
        rows += [
            "",
            "Compared where they are asked for, since compiling takes minutes: "
            + ", ".join(f"`{k}` ({n})" for k, n in counted.items())
            + ".",
        ]
    return "\n".join(rows) + "\n"


def written(page: str, rows: str) -> str:
    """``page`` with ``rows`` between its marks."""
    before, _, rest = page.partition(_BEGIN)
    _, found, after = rest.partition(_END)
    if not found:
        raise ValueError(f"the page has no '{_BEGIN}' and '{_END}'")
    return f"{before}{_BEGIN}\n\n{rows}\n{_END}{after}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print every point, and the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.points", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kinds", metavar="KINDS", help="only these, separated by commas")
    parser.add_argument("--smoke", action="store_true", help="only vertices on one tile")
    parser.add_argument("--write", action="store_true", help="put the table into docs/trust.md")
    arguments = parser.parse_args(argv)
    wanted = arguments.kinds.split(",") if arguments.kinds else None
    if arguments.smoke:
        wanted = ["vertex_add", "vertex_scaled_add"]
    points = [point for point in read_points() if (point.kind not in LONG if wanted is None else point.kind in wanted)]
    scores = []
    for score in scores_of(points):
        scores.append(score)
        print(
            f"{score.point.id:26} {score.point.published:>14,} {score.estimated:>14,.0f} {score.ratio:6.2f}", flush=True
        )
    rows = table(scores, [point for point in read_points() if point.kind in LONG and wanted is None])
    print("\n" + rows, end="")
    if arguments.write:
        PAGE.write_text(written(PAGE.read_text(), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
