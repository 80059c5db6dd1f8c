"""Iterators of infeeds and functions of the host that use the session that waits for them."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)

USES = {
    "read": lambda session: session["v"],
    "assign": lambda session: session.__setitem__("v", np.int32(1)),
    "run": lambda session: session(),
    "save": lambda session: session.save("/dev/null"),
    "restart": lambda session: session.restart("f"),
}


def fed(elements, depth=3):
    """A session that adds five elements to ``v``."""
    feed = ipu.Infeed(elements, name="f", like=np.int32(0), prefetch_depth=depth)
    total = ipu.Variable(np.int32(0), name="v")

    def main():
        ipu.fori_loop(0, 5, lambda i, carried: (total.assign(total.value + feed.dequeue()), carried)[1], ())

    return ipu.compile(main, args=(), target=TARGET).session()


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("first", [0, 1, 4, 7])
def test_an_iterator_that_uses_its_session_is_told_so(use, first):
    box = []

    def elements():
        for number in range(20):
            if number == first:
                USES[use](box[0])
            yield np.int32(number)

    session = fed(elements)
    box.append(session)
    with pytest.raises(ipu.RunError, match=r"the iterator of infeed 'f' uses <Session of main with v>, whose"):
        for _ in range(2):
            session()


def test_an_iterator_that_uses_its_session_when_it_is_made_is_told_so():
    box = []
    session = fed(lambda: iter([box[0]["v"]] * 9))
    box.append(session)
    with pytest.raises(ipu.RunError, match=r"the iterator of infeed 'f' uses <Session of main with v>"):
        session()


def test_an_iterator_may_use_another_session_and_handle_the_error():
    other, box, seen = fed([np.int32(1)] * 50), [], []

    def elements():
        while True:
            other()
            try:
                box[0]["v"]
            except ipu.RunError as error:
                seen.append(error)
            yield np.int32(2)

    session = fed(elements, depth=1)
    box.append(session)
    session()
    assert session["v"] == 10 and other["v"] >= 25 and len(seen) >= 5


def test_other_threads_wait_for_the_run_as_before():
    waiting, read = threading.Event(), []

    def elements():
        while True:
            waiting.set()
            time.sleep(0.05)
            yield np.int32(1)

    session = fed(elements)

    def reader():
        waiting.wait()
        read.append(int(session["v"]))

    thread = threading.Thread(target=reader)
    thread.start()
    session()
    thread.join()
    assert read == [5]


def test_values_of_ipu_variables_are_refused_to_an_iterator_of_theirs():
    total = ipu.Variable(np.int32(0), name="total")

    def elements():
        add()
        yield np.int32(1)

    feed = ipu.Infeed(elements, name="own", like=np.int32(0))

    @ipu.function(target=TARGET)
    def add():
        total.assign(total.value + 1)

    @ipu.function(target=TARGET)
    def main():
        total.assign(total.value + feed.dequeue() + feed.dequeue())

    with pytest.raises(ipu.RunError, match=r"the iterator of infeed 'own' uses "):
        main()


@pytest.mark.parametrize(
    "fn",
    [copy.copy, copy.deepcopy, lambda session: pickle.loads(pickle.dumps(session))],
    ids=["copy", "deep", "pickle"],
)
def test_a_session_is_neither_copied_nor_pickled(fn):
    session = fed([np.int32(1)] * 9)
    with pytest.raises(ipu.RunError, match=r"<Session of main with v> cannot be copied or pickled; save\(path\)"):
        fn(session)
