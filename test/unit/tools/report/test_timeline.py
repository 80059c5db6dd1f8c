"""The trace of the page is drawn by the clocks from which the total comes."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report.timeline import timeline


def feeding(io_tiles: int, rounds: int = 10) -> Profile:
    """A loop that takes batches, which I/O tiles fetch while the others work."""
    batch = np.zeros((64, 32), np.float32)
    feed, weights = ipu.Infeed([batch], name="feed"), ipu.Variable(np.zeros((32, 8), np.float32), name="w")

    def train() -> None:
        def step(_: Any, carried: Any) -> Any:
            x = feed.dequeue()
            weights.assign(weights.value - x.T @ np.tanh(x @ weights.value))
            return carried

        ipu.fori_loop(0, rounds, step, ())

    target = ipu.Target(tiles_per_ipu=32, io_tiles=io_tiles)
    return ipu.compile(train, args=(), target=target).profile()


def halves() -> Profile:
    """Two IPUs with work of different length."""

    def both(x: Any, w: Any) -> Any:
        with ipu.shard(0):
            first = np.tanh(x @ w)
        with ipu.shard(1):
            second = x + 1.0
        return first, second

    specs = [ipu.TensorSpec((32, 32)), ipu.TensorSpec((32, 32))]
    return ipu.compile(both, args=specs, target=ipu.Target(tiles_per_ipu=8, ipus=2)).profile()


@pytest.mark.parametrize(
    ("profile", "rows"),
    [
        (lambda: feeding(0), ["IPU 0"]),
        (lambda: feeding(4), ["IPU 0", "I/O tiles"]),
        (halves, ["IPU 0", "IPU 1"]),
    ],
    ids=["one clock", "I/O tiles", "two IPUs"],
)
def test_the_axis_ends_where_the_total_does(profile: Any, rows: list[str]) -> None:
    found = profile()
    drawn = timeline(found)
    assert drawn["rows"] == rows
    assert drawn["total"] == found.total_cycles
    for row in range(len(rows)):
        spans = [step[2 + row] for step in drawn["steps"] if step[2 + row]]
        assert all(end <= begin + 0.05 for (_, end), (begin, _) in pairwise(spans))
        assert all(0 <= begin <= end <= drawn["total"] for begin, end in spans)


def test_what_a_row_works_is_what_the_profile_says() -> None:
    """The spans of a row have the length of its cycles: a loop is drawn as long as all of its iterations."""
    found = halves()
    drawn = timeline(found)
    for row, each in enumerate(found.execution.ipus):
        spans = [step[2 + row] for step in drawn["steps"] if step[2 + row]]
        assert sum(end - begin for begin, end in spans) == pytest.approx(drawn["total"] - each.waiting, abs=1)


def test_a_loop_is_as_long_as_its_iterations() -> None:
    drawn = timeline(feeding(0))
    ((_, kind, iterations, depth, begin, end),) = drawn["loops"]
    assert (kind, iterations, depth) == ("repeat", 10, 0)
    inside = [step for step in drawn["steps"] if step[1] == 10]
    assert inside and all(begin <= step[2][0] and step[2][1] <= end for step in inside)
    assert sum(step[2][1] - step[2][0] for step in inside) == pytest.approx(end - begin, abs=0.1)


def test_a_while_shows_its_condition_and_its_body() -> None:
    def halve(x: Any) -> Any:
        return ipu.while_loop(lambda value: value.max() > 1.0, lambda value: value / 2.0, x)

    exe = ipu.compile(halve, args=[ipu.TensorSpec((8,))], target=ipu.Target(tiles_per_ipu=4))
    found = exe.profile([np.full(8, 16, np.float32)])
    drawn = timeline(found)
    assert drawn["total"] == found.total_cycles
    assert [loop[1] for loop in drawn["loops"]] == ["while"]
    assert {step[1] for step in drawn["steps"]} >= {1, 4, 5}
