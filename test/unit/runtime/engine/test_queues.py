"""Queues on the host: order, errors, limits, threads."""

import gc
import itertools
import threading
import time

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.infeeds import Infeed, SyntheticInfeed
from ipu_mlir.runtime.engine.outfeeds import Outfeed, SyntheticOutfeed
from ipu_mlir.runtime.translator.translation import ArraySpec, Stream

SCALAR = (ArraySpec("tensor 0 of 'q'", (), np.dtype(np.int64)),)


def infeed(elements, depth=3, specs=SCALAR):
    return Infeed(Stream("q", "infeed", specs, depth, "all"), elements)


def outfeed(mode="all", specs=SCALAR, **limits):
    return Outfeed(Stream("o", "outfeed", specs, 1, mode), **limits)


def taken(queue, count):
    found = []
    for _ in range(count):
        queue.take()
        element = np.empty((), np.int64)
        queue.hand_out(0, element)
        found.append(int(element))
    return found


def test_elements_come_in_order_and_end():
    queue = infeed(lambda: iter([[n] for n in range(7)]))
    assert taken(queue, 7) == list(range(7))
    for _ in range(2):
        with pytest.raises(
            RunError, match="infeed 'q' has ended after 7 elements, and the program asks for another one"
        ):
            queue.take()
    queue.restart()
    assert taken(queue, 2) == [0, 1]


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_no_more_than_its_depth_is_fetched(depth):
    asked = []

    def elements():
        for n in itertools.count():
            asked.append(n)
            yield [n]

    queue = infeed(elements, depth)
    taken(queue, 1)
    _settle(lambda: len(asked))
    assert len(asked) <= 1 + depth + 1
    assert taken(queue, 20) == list(range(1, 21))


def _settle(value):
    """Wait until ``value`` has not changed for a while."""
    deadline = time.monotonic() + 10
    last, since = value(), time.monotonic()
    while time.monotonic() - since < 0.05 and time.monotonic() < deadline:
        time.sleep(0.005)
        if value() != last:
            last, since = value(), time.monotonic()


def test_an_iterator_may_use_its_arrays_again():
    def elements():
        array = np.empty((), np.int64)
        for n in range(50):
            array[...] = n
            yield [array]

    assert taken(infeed(elements), 50) == list(range(50))


class _Stumbling:
    """Counts, but raises at 3 and at 5."""

    def __init__(self):
        self._next = 0

    def __iter__(self):
        return self

    def __next__(self):
        self._next += 1
        if self._next - 1 in (3, 5):
            raise OSError(f"no element {self._next - 1}")
        return [self._next - 1]


def test_an_exception_comes_at_its_element_and_the_next_one_is_there():
    queue = infeed(_Stumbling)
    assert taken(queue, 3) == [0, 1, 2]
    with pytest.raises(OSError, match="no element 3") as caught:
        queue.take()
    assert any(entry.name == "__next__" for entry in caught.traceback), "the traceback shows the user's iterator"
    assert taken(queue, 1) == [4]
    with pytest.raises(OSError, match="no element 5"):
        queue.take()
    assert taken(queue, 2) == [6, 7]


def test_a_generator_that_raises_has_ended():
    def elements():
        yield [1]
        raise ValueError("broken file")

    queue = infeed(elements)
    assert taken(queue, 1) == [1]
    with pytest.raises(ValueError, match="broken file"):
        queue.take()
    with pytest.raises(RunError, match="has ended after 1 elements"):
        queue.take()


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ([], "element 1 of infeed 'q' has 0 tensors, expected 1"),
        ([np.zeros(2, np.int64)], r"tensor 0 of 'q', element 1 of infeed 'q', has shape \(2,\), expected \(\)"),
        ([np.float32(1)], "tensor 0 of 'q', element 1 of infeed 'q', has dtype float32, expected int64"),
        (["text"], "tensor 0 of 'q', element 1 of infeed 'q', is 'text', expected numbers"),
    ],
)
def test_an_element_of_another_form_is_refused_and_the_next_one_is_there(element, message):
    queue = infeed(lambda: iter([[0], element, [2]]))
    assert taken(queue, 1) == [0]
    with pytest.raises(RunError, match=message):
        queue.take()
    assert taken(queue, 1) == [2]


def test_a_queue_without_a_source_says_so():
    with pytest.raises(RunError, match=r"infeed 'q' has no source; give it one with session.feed\('q', ...\)"):
        infeed(None).take()


def test_an_interrupt_while_waiting_leaves_the_element_for_later():
    gate = threading.Event()

    def elements():
        yield [1]
        gate.wait(10)
        yield [2]

    queue = infeed(elements)
    taken(queue, 1)
    waiting = threading.Event()

    class Interrupted(BaseException):
        pass

    original = queue._prefetched.changed.wait

    def wait(timeout=None):
        waiting.set()
        raise Interrupted

    queue._prefetched.changed.wait = wait
    with pytest.raises(Interrupted):  # as KeyboardInterrupt comes out of the wait
        queue.take()
    queue._prefetched.changed.wait = original
    gate.set()
    assert taken(queue, 1) == [2]


def test_a_dropped_queue_ends_its_thread():
    before = threading.active_count()
    queue = infeed(lambda: ([n] for n in itertools.count()))
    taken(queue, 3)
    del queue
    gc.collect()
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_outfeed_keeps_all_until_it_is_read():
    queue = outfeed()
    for n in range(100):
        queue.put(0, n)
        queue.deliver()
    (found,) = queue.read()
    np.testing.assert_array_equal(found, np.arange(100))
    assert queue.read()[0].shape == (0,)
    queue.put(0, 7)
    queue.deliver()
    np.testing.assert_array_equal(queue.read()[0], [7])
    np.testing.assert_array_equal(found, np.arange(100))
    assert queue.statistics().elements == 101


def test_outfeed_keeps_the_last_one():
    queue = outfeed("last")
    with pytest.raises(RunError, match="outfeed 'o' has no last element: no run has handed one over"):
        queue.read()
    for n in range(5):
        queue.put(0, n)
        queue.deliver()
    assert queue.read()[0] == 4 and queue.read()[0] == 4
    assert queue.read()[0].shape == ()


def test_outfeed_that_nobody_reads_refuses():
    queue = outfeed(most_bytes=100 * 8)
    for n in range(100):
        queue.put(0, n)
        queue.deliver()
    with pytest.raises(RunError, match="outfeed 'o' holds 100 elements of 8 B that nobody has read, and takes no more"):
        queue.deliver()
    assert len(queue.read()[0]) == 100
    queue.deliver()
    assert len(queue.read()[0]) == 1


def test_a_reader_beside_the_writer_loses_nothing():
    queue, found, done = outfeed(), [], threading.Event()

    def read():
        while not done.is_set():
            found.append(queue.read()[0])
        found.append(queue.read()[0])

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    for n in range(20000):
        queue.put(0, n)
        queue.deliver()
    done.set()
    reader.join(60)
    assert not reader.is_alive()
    np.testing.assert_array_equal(np.concatenate(found), np.arange(20000))


def test_synthetic_queues_need_no_host():
    give, take = SyntheticInfeed(infeed(None).stream), SyntheticOutfeed(outfeed().stream)
    assert taken(give, 3) == [0, 0, 0]
    take.put(0, 1)
    take.deliver()
    assert take.read()[0].shape == (0,) and take.statistics().elements == 1
    with pytest.raises(RunError, match="has no last element"):
        SyntheticOutfeed(outfeed("last").stream).read()


def test_an_infeed_whose_thread_did_not_start_begins_with_the_next_request(monkeypatch):
    queue = infeed(lambda: iter([[n] for n in range(3)]))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _fails(RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError, match="can't start"):
            queue.take()
    assert taken(queue, 3) == [0, 1, 2]


def test_an_outfeed_that_memory_did_not_suffice_for_keeps_what_it_has(monkeypatch):
    specs = tuple(ArraySpec(f"tensor {n} of 'o'", (2,), np.dtype(np.float32)) for n in range(2))
    queue, empty = outfeed(specs=specs), np.empty
    for number in range(8):
        queue.put(0, number)
        queue.put(1, -number)
        queue.deliver()
    with monkeypatch.context() as patch:
        calls = iter([empty, _fails(MemoryError())])
        patch.setattr(np, "empty", lambda *given: next(calls)(*given))
        with pytest.raises(MemoryError):
            queue.deliver()
    queue.deliver()
    first, second = queue.read()
    assert first[:, 0].tolist() == [*range(8), 7] and second[:, 0].tolist() == [-n for n in (*range(8), 7)]


def test_a_fork_fetches_without_the_thread_of_its_parent(ends_well_in_a_child):
    queue = infeed(lambda: ([n] for n in itertools.count()))
    assert taken(queue, 1) == [0]
    _settle(lambda: len(queue._prefetched.ready))
    assert queue._prefetched.is_running, "the thread waits for room"

    def goes_on():
        assert taken(queue, 20) == list(range(1, 21))

    assert ends_well_in_a_child(goes_on)
    goes_on()


def _fails(error):
    def call(*given):
        raise error

    return call
