"""Programs on two replicas of two IPUs with eight tiles: feeds, loops and delays, on both executors."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(ipus=2, tiles_per_ipu=8, replicas=2)
WITH_IO_TILES = ipu.Target(ipus=2, tiles_per_ipu=10, replicas=2, io_tiles=2)
TARGETS = pytest.mark.parametrize("target", [TARGET, WITH_IO_TILES], ids=["", "io tiles"])
EXECUTORS = pytest.mark.parametrize("executor", ["run", "run_per_tile"])
W = np.arange(12, dtype=np.float32).reshape(3, 4) / 4


def elements(count: int) -> list[tuple[np.ndarray, dict[str, np.ndarray]]]:
    rng = np.random.default_rng(5)
    return [(rng.integers(-4, 5, (2, 3)).astype(np.float32), {"number": np.int32(n)}) for n in range(count)]


class Program:
    """Adds up what both IPUs make of elements: products on one, their squares on the other."""

    def __init__(self, target: ipu.Target, mode: Any = "all", count: int = 100) -> None:
        self.feed = ipu.Infeed(lambda: iter(elements(count)), like=elements(1)[0], name="feed")
        self.log = ipu.Outfeed(mode, name="log")
        self.total = ipu.Variable(np.zeros((2, 4), np.float32), name="total")
        self.executable = ipu.compile(self._main, args=(W, np.int32(0), np.int32(0)), target=target)

    def _main(self, w: Any, first: Any, then: Any) -> None:
        def step(_: Any, carried: tuple[()]) -> tuple[()]:
            x, y = self.feed.dequeue()
            with ipu.shard(0):
                products = x @ w
            with ipu.shard(1):
                squares = products * products
                self.total.assign(self.total.value + ipu.all_reduce(squares))
            self.log.enqueue({"sum": squares.sum(), 0: (y["number"], self.total.value)})
            return carried

        ipu.fori_loop(0, first, step, ())
        ipu.while_loop(
            lambda i: i < then, lambda i: (step(i, ()), i + 1)[1], np.int32(0)
        )  # goes on with the same queue


def expected(first: int, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of steps from the element ``first`` on: sums and numbers for each replica, and the total after each."""
    squares = np.stack([(x @ W) ** 2 for x, _ in elements(first + 2 * steps)])
    totals = np.cumsum(squares.reshape(-1, 2, 2, 4).sum(1), axis=0)[first // 2 :]
    return squares.sum((1, 2))[first:].reshape(-1, 2), np.arange(first, first + 2 * steps).reshape(-1, 2), totals


@TARGETS
@EXECUTORS
def test_loops_share_queues_whose_position_is_kept(target: ipu.Target, executor: str) -> None:
    program = Program(target)
    run = getattr(program.executable, executor)
    first = 0
    for counts in ((2, 1), (0, 0), (0, 2)):
        run([W, *np.int32(counts)])
        steps = sum(counts)
        found = program.log.read()
        sums, numbers, totals = expected(first, steps)
        np.testing.assert_allclose(found["sum"], sums, rtol=1e-5)
        np.testing.assert_array_equal(found[0][0], numbers)  # replica 0 has the first of each two elements
        np.testing.assert_allclose(found[0][1][:, 0], totals, rtol=1e-5)
        np.testing.assert_array_equal(found[0][1][:, 0], found[0][1][:, 1])
        first += 2 * steps
    assert program.log.read()["sum"].shape == (0, 2)


@EXECUTORS
def test_the_last_element_is_one_of_each_replica(executor: str) -> None:
    program = Program(WITH_IO_TILES, "last")
    with pytest.raises(ipu.RunError, match="outfeed 'log' has not been written"):
        program.log.read()
    getattr(program.executable, executor)([W, *np.int32((3, 0))])
    found = program.log.read()
    assert found["sum"].shape == (2,) and found[0][0].tolist() == [4, 5]
    np.testing.assert_allclose(found["sum"], expected(0, 3)[0][-1], rtol=1e-5)


@EXECUTORS
def test_the_end_of_an_infeed_names_how_many_elements_there_were(executor: str) -> None:
    program = Program(TARGET, count=5)
    with pytest.raises(ipu.RunError, match="infeed 'feed' has ended after 5 elements"):
        getattr(program.executable, executor)([W, *np.int32((3, 0))])
    assert program.log.read()[0][0].tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("depth", [0, 1, 3])
@EXECUTORS
def test_a_fifo_of_each_replica_on_each_ipu_is_late(depth: int, executor: str) -> None:
    def main(x: Any) -> Any:
        def body(_: Any, carried: Any) -> Any:
            a, *_ = carried
            with ipu.shard(0):
                late = ipu.fifo(a, depth)
            with ipu.shard(1):
                later = ipu.fifo(late, 1)
            return a + x, late, later

        own = x * (ipu.replica_index() + 1).astype(np.float32)
        return ipu.fori_loop(0, 5, body, (own, own, own))[1:]

    x = np.ones(3, np.float32)
    late, later = getattr(ipu.compile(main, args=(x,), target=TARGET), executor)([x])
    for found, delay in ((late, depth), (later, depth + 1)):
        np.testing.assert_array_equal(found, [[(r + 1 + 4 - delay)] * 3 for r in range(2)])


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What ``work`` gives or raises, in a thread of its own; nothing takes longer."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append((work(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, f"hangs for {seconds} seconds"
    if found[0][1] is not None:
        raise found[0][1]
    return found[0][0]


@pytest.fixture(scope="module")
def compiled() -> Any:
    return Program(TARGET).executable


WRONG = {
    "an exception": (ConnectionError("away"), ConnectionError, "away"),
    "Ctrl-C": (KeyboardInterrupt(), KeyboardInterrupt, None),
    "another shape": ((np.zeros((2, 4), np.float32), {"number": np.int32(0)}), ipu.RunError, "has shape"),
    "another structure": (np.zeros((2, 3), np.float32), ipu.RunError, "element of infeed 'feed'"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_error_at_any_element_costs_only_that_element(compiled: Any, kind: str) -> None:
    wrong, error, message = WRONG[kind]

    class Source:
        def __init__(self, place: int) -> None:
            self.place, self.number = place, -1

        def __iter__(self) -> "Source":
            return self

        def __next__(self) -> Any:
            self.number += 1
            if self.number != self.place:
                return good[self.number - (self.number > self.place)]
            if isinstance(wrong, BaseException):
                raise wrong
            return wrong

    good = elements(40)
    for place in range(9):
        session = compiled.session()
        session.feed("feed", Source(place))
        with pytest.raises(error, match=message):
            for _ in range(4):
                within(20, lambda session=session: session(W, *np.int32((2, 1))))
        within(20, lambda session=session: session(W, *np.int32((1, 0))))
        numbers = session.read("log")[0][0].reshape(-1).tolist()
        assert numbers == list(range(len(numbers))) and len(numbers) >= place // 2 * 2, f"wrong at element {place}"


@pytest.mark.parametrize("sessions", [1, 4])
def test_four_threads_lose_no_element(compiled: Any, sessions: int) -> None:
    made = [compiled.session() for _ in range(sessions)]
    for each in made:
        each.feed("feed", lambda: iter(elements(80)))
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                made[number % sessions](W, *np.int32((1, 1)))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not errors and not any(thread.is_alive() for thread in threads)
    for each in made:
        numbers = each.read("log")[0][0].reshape(-1).tolist()
        assert numbers == list(range(2 * 2 * 5 * 4 // sessions))
