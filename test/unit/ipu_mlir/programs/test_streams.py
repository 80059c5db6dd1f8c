"""Infeeds and outfeeds of traced functions, on both executors."""

import subprocess
import sys
import threading
import time

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.tracing.control.branches import cond
from ipu_mlir.tracing.control.loops import fori_loop, while_loop

TARGET = ipu.Target(ipus=1, tiles_per_ipu=4)
F32 = np.float32


def data(count):
    rng = np.random.default_rng(3)
    return [(rng.integers(0, 9, (6, 4)).astype(F32), {"label": np.int32(n)}) for n in range(count)]


def training(batches, losses, w, steps=5):
    """Adds up batches, and passes the sum after each."""

    def train():
        def body(i, carried):
            x, y = batches.dequeue()
            w.assign(w.value + x.sum(0))
            losses.enqueue({"sum": w.value.sum(), "label": y["label"]})
            return carried

        fori_loop(0, steps, body, ())

    return train


@pytest.fixture
def program():
    w = ipu.Variable(np.zeros(4, F32), name="w")
    batches, losses = ipu.Infeed(data(12), name="batches"), ipu.Outfeed(name="losses")
    return ipu.compile(training(batches, losses, w), args=(), target=TARGET), w, losses


def sums(count):
    return np.cumsum([x.sum() for x, _ in data(count)])


def test_position_is_kept_from_run_to_run(program):
    exe, _, _ = program
    session = exe.session()
    session()
    session()
    found = session.read("losses")
    np.testing.assert_array_equal(found["sum"], sums(10))
    np.testing.assert_array_equal(found["label"], np.arange(10))
    assert session.read("losses")["sum"].shape == (0,)
    with pytest.raises(ipu.RunError, match="infeed 'batches' has ended after 12 elements"):
        session()
    assert [int(each["label"]) for each in session.elements("losses")] == [10, 11]
    session.restart("batches")
    session()
    np.testing.assert_array_equal(session.read("losses")["label"], np.arange(5))


def test_both_executors_take_from_one_queue_outside_of_sessions(program):
    exe, w, losses = program
    exe.run([])
    exe.run_per_tile([])
    np.testing.assert_array_equal(losses.read()["sum"], sums(10))
    np.testing.assert_array_equal(w.value, sum(x.sum(0) for x, _ in data(10)))


def test_sessions_have_positions_of_their_own(program):
    exe, _, _ = program
    one, other = exe.session(), exe.session()
    one()
    one()
    other()
    assert one.read("losses")["label"][-1] == 9 and other.read("losses")["label"][-1] == 4


def test_another_source_begins_at_its_first_element(program):
    exe, _, _ = program
    session = exe.session()
    session()
    session.feed("batches", lambda: iter(data(12)[6:]))
    session()
    np.testing.assert_array_equal(session.read("losses")["label"], [0, 1, 2, 3, 4, 6, 7, 8, 9, 10])


def test_an_iterator_is_for_one_session():
    batches, losses, w = ipu.Infeed(iter(data(20)), name="b"), ipu.Outfeed(name="o"), ipu.Variable(np.zeros(4, F32))
    exe = ipu.compile(training(batches, losses, w), args=(), target=TARGET)
    session = exe.session()
    session()
    np.testing.assert_array_equal(session.read("o")["label"], np.arange(5))


def test_an_error_of_the_iterator_reaches_the_caller_and_leaves_the_session_usable(program):
    exe, _, _ = program
    session = exe.session()
    good = data(30)

    class Sometimes:
        def __init__(self):
            self.place = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.place += 1
            if self.place == 7:
                raise ConnectionError("the file server is away")
            return good[self.place - 1]

    session.feed("batches", Sometimes)
    session()
    with pytest.raises(ConnectionError, match="the file server is away") as caught:
        session()
    assert any(entry.name == "__next__" for entry in caught.traceback)
    session()
    np.testing.assert_array_equal(session.read("losses")["label"], [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11])


def test_wrong_elements_name_the_place(program):
    exe, _, _ = program
    x = np.zeros((6, 4), F32)
    cases = {
        r"an element of infeed 'batches'\[1\] was a dict with keys 'label', and becomes a tensor": (x, np.int32(1)),
        r"has shape \(5, 4\), expected \(6, 4\)": (np.zeros((5, 4), F32), {"label": np.int32(1)}),
        "has dtype float64, expected float32": (np.zeros((6, 4)), {"label": np.int32(1)}),
    }  # fmt: skip
    for message, element in cases.items():
        session = exe.session()
        session.feed("batches", [data(1)[0], element])
        with pytest.raises(ipu.RunError, match=message):
            session()
        assert len(session.read("losses")["label"]) == 1


def test_outfeeds_are_read_while_the_program_runs():
    n, out = ipu.Variable(np.int32(0), name="n"), ipu.Outfeed(name="out")
    gate = threading.Semaphore(0)

    def elements():
        for k in range(100):
            gate.acquire()
            yield np.int32(k)

    queue = ipu.Infeed(elements, like=np.int32(0), prefetch_depth=1, name="in")

    def run():
        def body(i, c):
            n.assign(n.value + queue.dequeue())
            out.enqueue(n.value)
            return c

        fori_loop(0, 4, body, ())

    session = ipu.compile(run, args=(), target=TARGET).session()
    worker = threading.Thread(target=session, daemon=True)
    worker.start()
    seen = []
    for _ in range(4):
        gate.release()
        deadline = time.monotonic() + 30
        while not len(part := session.read("out")) and time.monotonic() < deadline:
            time.sleep(0.001)
        seen += list(part)
    worker.join(30)
    assert not worker.is_alive() and seen == [0, 1, 3, 6]
    assert session.statistics()["in"].elements == 4 and session.statistics()["in"].seconds_waited > 0


def test_queues_in_branches_and_whiles():
    numbers, odd = ipu.Infeed([np.int32(k) for k in (3, 4, 5, 7, 10, 11)], name="numbers"), ipu.Outfeed(name="odd")

    def run():
        def more(k):
            found = numbers.dequeue()
            cond(found % 2 == 1, lambda: odd.enqueue(found), lambda: None)
            return found

        return while_loop(lambda k: k < 10, more, np.int32(0))

    exe = ipu.compile(run, args=(), target=TARGET)
    session = exe.session()
    assert session() == 10
    np.testing.assert_array_equal(session.read("odd"), [3, 5, 7])
    assert exe.run_per_tile([])[0] == 10
    np.testing.assert_array_equal(odd.read(), [3, 5, 7])


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float16, ml_dtypes.bfloat16, np.float64])
def test_every_element_type_goes_through(dtype):
    given = [np.array([0, 1, n % 2], dtype) for n in range(4)]
    into, out, last = ipu.Infeed(given, name="i"), ipu.Outfeed(name="o"), ipu.Outfeed("last", name="l")

    def run():
        def body(i, c):
            x = into.dequeue()
            out.enqueue(x)
            last.enqueue(x)
            return c

        fori_loop(0, 2, body, ())

    exe = ipu.compile(run, args=(), target=TARGET)
    exe.run([])
    exe.run_per_tile([])
    found = out.read()
    assert found.dtype == dtype and found.shape == (4, 3)
    np.testing.assert_array_equal(found, np.stack(given))
    np.testing.assert_array_equal(last.read(), given[-1])


def test_synthetic_data_needs_no_host(program):
    exe, _, _ = program
    session = exe.session(synthetic=True)
    for _ in range(5):
        session()
    assert session.read("losses")["sum"].shape == (0,)
    np.testing.assert_array_equal(session["w"], np.zeros(4))
    assert session.statistics()["batches"].elements == 25


def test_no_round_takes_no_element(program):
    w, batches, losses = ipu.Variable(np.zeros(4, F32)), ipu.Infeed(data(3), name="b"), ipu.Outfeed(name="o")
    exe = ipu.compile(training(batches, losses, w, steps=0), args=(), target=TARGET)
    session = exe.session()
    session()
    assert session.statistics() in ({}, {"b": session.statistics().get("b"), "o": session.statistics().get("o")})
    assert all(each.elements == 0 for each in session.statistics().values())


def test_profile_counts_the_bytes_of_elements(program):
    exe, _, _ = program
    profile = exe.profile()
    names = [step.name for step in profile.compilation.steps if step.kind == "host_exchange"]
    assert names[:-2] == ["dequeue of @batches", "receive of @batches", "receive of @batches", "put of @losses",
                          "put of @losses", "enqueue of @losses"]  # fmt: skip
    assert profile.execution.cycles.host >= 5 * 6 * 4 * 4 * 1.325e9 / 25e9
    exe.profile([])


def _infeed(*elements, **settings):
    return lambda: ipu.Infeed(*elements, name="q", **settings)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_infeed([1], prefetch_depth=0), "infeed q: prefetch_depth must be greater than zero, got 0"),
        (_infeed([1], prefetch_depth=256), "infeed q: prefetch_depth must be a number from 1 to 255"),
        (_infeed(), "infeed q has neither elements nor like="),
        (_infeed([]), "infeed q has no elements; say with like= what they look like"),
        (_infeed(3), "infeed q takes elements from an iterable, or from a function that gives one"),
        (_infeed([("a", "b")]), "infeed q: an element has no tensors; give arrays"),
        (_infeed([np.zeros((0, 2))]), r"infeed q: element is float64\[0, 2\], which has a dimension"),
        (lambda: ipu.Outfeed("first", name="o"), "outfeed o: mode is 'all' or 'last', got 'first'"),
        (lambda: ipu.Infeed([1], name="q").dequeue(), "infeed q is read in traced functions; elsewhere a session does"),
        (lambda: ipu.Outfeed(name="o").enqueue(1), "outfeed o is written in traced functions; elsewhere"),
        (lambda: ipu.Outfeed(name="o").read(), "outfeed 'o' has not been written: call a function that does"),
    ],
)  # fmt: skip
def test_what_no_queue_can_be_is_said(make, message):
    with pytest.raises(ipu.IpuError, match=message):
        make()


def test_elements_of_an_outfeed_are_alike():
    out = ipu.Outfeed(name="o")

    def run(x):
        out.enqueue({"a": x})
        out.enqueue({"a": x.sum()})

    with pytest.raises(
        TypeError, match=r"outfeed o takes element\['a'\] float32\[2\], and was given element\['a'\] float32\[\]"
    ):
        ipu.compile(run, args=(np.ones(2, F32),))


def test_names_of_queues_are_known(program):
    exe, _, _ = program
    session = exe.session()
    for call in (lambda: session.feed("q", []), lambda: session.restart("q")):
        with pytest.raises(ipu.RunError, match="there is no infeed 'q'; there are: batches"):
            call()
    with pytest.raises(ipu.RunError, match="there is no outfeed 'q'; there are: losses"):
        session.read("q")


def test_the_last_element_is_no_list():
    last = ipu.Outfeed("last", name="last")
    session = ipu.compile(lambda x: last.enqueue(x), args=(F32(1),), target=TARGET).session()
    with pytest.raises(
        ipu.RunError, match=r"outfeed 'last' keeps its last element only; session.read\('last'\) gives that"
    ):
        list(session.elements("last"))
    session(F32(3))
    assert session.read("last") == 3


def test_queues_of_a_module_give_plain_arrays():
    text = """
      "ipu.infeed"() {sym_name = "q", types = [tensor<2xf32>, tensor<i32>]} : () -> ()
      "ipu.outfeed"() {sym_name = "o", types = [tensor<2xf32>], mode = "all"} : () -> ()
      func.func @main() {
        "ipu.dequeue"() {queue = @q} : () -> ()
        %x = "ipu.element"() {queue = @q, index = 0} : () -> tensor<2xf32>
        %y = arith.addf %x, %x : tensor<2xf32>
        "ipu.put"(%y) {queue = @o, index = 0} : (tensor<2xf32>) -> ()
        "ipu.enqueue"() {queue = @o} : () -> ()
        return
      }
    """
    session = ipu.compile(text, target=TARGET).session()
    with pytest.raises(ipu.RunError, match="infeed 'q' has no source"):
        session()
    session.feed("q", [(np.ones(2, F32), 1), (np.zeros(2, F32), 2)])
    session()
    session()
    np.testing.assert_array_equal(session.read("o"), [[2, 2], [0, 0]])
    assert [len(each) for each in session.elements("o")] == []


_WAITS = """
import itertools, os, signal, sys, threading, time
import numpy as np
import ipu_mlir as ipu
gate = threading.Event()
def elements():
    gate.wait()
    yield from map(np.int32, itertools.count())
queue = ipu.Infeed(elements, like=np.int32(0), name="q")
session = ipu.compile(lambda: queue.dequeue() + 1, args=(), target=ipu.Target(tiles_per_ipu=1)).session()
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    session()
    sys.exit("not interrupted")
except KeyboardInterrupt:
    gate.set()
assert [int(session()) for _ in range(3)] == [1, 2, 3]
"""


def test_interrupt_from_the_keyboard_leaves_the_session_usable():
    subprocess.run([sys.executable, "-c", _WAITS], check=True, timeout=60)


@pytest.mark.slow
def test_a_million_elements():
    out = ipu.Outfeed(name="o")

    def run():
        def body(i, c):
            out.enqueue(i)
            return c

        fori_loop(0, 1_000_000, body, ())

    session = ipu.compile(run, args=(), target=TARGET).session()
    session()
    np.testing.assert_array_equal(session.read("o"), np.arange(1_000_000))
