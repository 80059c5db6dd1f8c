"""Replicas that train on streams, and what their variables, outfeeds and profiles have."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.replicas import FOUR, TWO

import ipu_mlir as ipu


def batches() -> Iterator[dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    for _ in range(24):
        x = rng.standard_normal((4, 3)).astype(np.float32)
        yield {"x": x, "y": x @ np.float32([[1], [2], [3]])}


def trainer(name: str) -> tuple[ipu.Variable, Callable[[], Any]]:
    """Data-parallel training: each replica takes a batch of its own; the weights stay the same."""
    w = ipu.Variable(np.zeros((3, 1), np.float32), name="w")
    seen = ipu.Variable(np.zeros((), np.float32), name="seen")
    feed, log = ipu.Infeed(batches, name="feed"), ipu.Outfeed(name="log")

    def epoch() -> Any:
        def body(i: Any, carried: Any) -> Any:
            batch = feed.dequeue()
            error = batch["x"] @ w.value - batch["y"]
            gradient = ipu.all_reduce(batch["x"].T @ error, "mean")
            w.assign(w.value - np.float32(0.05) * gradient)
            seen.assign(seen.value + batch["x"].sum())
            log.enqueue({"loss": (error * error).mean(), "step": i})
            return carried

        ipu.fori_loop(0, 6, body, ())
        return w.value, seen.value

    return w, epoch


def test_training_on_replicas_is_training_on_one_large_batch() -> None:
    _, epoch = trainer("w")
    executable = ipu.compile(epoch, args=(), target=FOUR)
    session = executable.session()
    w, seen = session()
    log = session.read("log")
    assert log["loss"].shape == (6, 4) and log["step"][:, 3].tolist() == list(range(6))
    assert session["w"].shape == (3, 1) and session["seen"].shape == seen.shape == (4,)
    expected, elements = np.zeros((3, 1), np.float32), list(batches())
    for step in range(6):
        group = elements[4 * step : 4 * step + 4]
        errors = [each["x"] @ expected - each["y"] for each in group]
        assert np.allclose(log["loss"][step], [(error * error).mean() for error in errors], rtol=1e-4)
        gradients = [each["x"].T @ error for each, error in zip(group, errors, strict=True)]
        expected = expected - np.float32(0.05) * np.mean(gradients, axis=0)
    assert np.allclose(w, expected, rtol=1e-4, atol=1e-5) and np.array_equal(session["w"], w)
    sums = [sum(float(each["x"].sum()) for each in elements[r::4]) for r in range(4)]
    assert np.allclose(seen, sums, rtol=1e-4, atol=1e-4)
    with pytest.raises(ipu.RunError, match="has ended after 24 elements"):
        session()


def test_training_on_the_tiles_of_every_replica() -> None:
    (fast, first), (tiles, second) = (trainer(name) for name in "ab")
    ipu.compile(first, args=(), target=FOUR).run([])
    ipu.compile(second, args=(), target=FOUR).run_per_tile([])
    assert np.allclose(fast.value, tiles.value, rtol=1e-5)


class OneBadElement(Iterator[np.ndarray]):
    """The numbers from 0 to 7, with an error once before 2."""

    def __init__(self) -> None:
        self.number, self.is_broken = 0, True

    def __next__(self) -> np.ndarray:
        if self.number == 2 and self.is_broken:
            self.is_broken = False
            raise ValueError("a bad disk")
        if self.number == 8:
            raise StopIteration
        self.number += 1
        return np.float32(self.number - 1)


def test_an_error_in_a_stream_loses_no_element() -> None:
    feed = ipu.Infeed(OneBadElement, like=np.float32(0), name="once")
    session = ipu.compile(lambda: feed.dequeue(), args=(), target=FOUR).session()
    with pytest.raises(ValueError, match="a bad disk"):
        session()
    assert session().tolist() == [0, 1, 2, 3]
    assert session().tolist() == [4, 5, 6, 7]


def test_a_variable_that_differs_is_given_and_saved_as_one_or_as_many(tmp_path: Any) -> None:
    v = ipu.Variable(np.float32([1, 2]), name="v")

    def main() -> Any:
        v.assign(v.value + ipu.replica_index().astype(np.float32))
        return ipu.all_reduce(v.value)

    session = ipu.compile(main, args=(), target=TWO).session()
    assert session().tolist() == [3, 5] and session["v"].tolist() == [[1, 2], [2, 3]]
    session.save(tmp_path / "state.npz")
    session["v"] = np.float32([5, 5])
    assert session["v"].tolist() == [[5, 5], [5, 5]]
    session.load(tmp_path / "state.npz")
    assert session["v"].tolist() == [[1, 2], [2, 3]]
    with pytest.raises(ipu.RunError, match="has shape"):
        session["v"] = np.zeros((3, 2), np.float32)


def test_last_mode_has_a_row_for_each_replica() -> None:
    last = ipu.Outfeed("last", name="last")

    def main() -> None:
        last.enqueue({"own": ipu.replica_index(), "one": np.float32(1)})

    session = ipu.compile(main, args=(), target=TWO).session()
    session()
    found = session.read("last")
    assert found["own"].tolist() == [0, 1] and found["one"].tolist() == [1, 1]


def test_one_sum_over_all_replicas_is_one_product() -> None:
    def main() -> Any:
        batch = feed.dequeue()
        return ipu.all_reduce(batch["x"].T @ batch["y"])

    feed = ipu.Infeed(batches, name="feed")
    source = ipu.compile(main, args=(), target=FOUR, kernels="never").source()
    assert source.count("dot(") == 1 and "matmul(" not in source


def test_a_profile_is_of_one_replica_and_counts_links() -> None:
    _, epoch = trainer("w")
    executable = ipu.compile(epoch, args=(), target=FOUR)
    profile = executable.profile([])
    assert profile.target.replicas == 4 and "one of 4 replicas" in profile.summary()
    assert profile.execution.cycles.inter_ipu > 0
    assert [step.name for step in profile.compilation.steps].count("all_reduce of replicas") == 1
