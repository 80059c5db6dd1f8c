"""Sessions that count: profiles of runs as they were, without another run."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)


def program():
    """Takes elements until one is negative, and doubles what is odd: only the elements say how often what runs."""
    numbers = ipu.Infeed(lambda: np.int32([3, 4, 5, -1, 2, -1]), name="numbers")
    total = ipu.Variable(np.int32(0), name="total")

    def main(x):
        def body(k):
            ipu.cond(k % 2 == 1, lambda: total.assign(total.value + 2 * k), lambda: total.assign(total.value + k))
            return numbers.dequeue()

        ipu.while_loop(lambda k: k >= 0, body, numbers.dequeue())
        return {"total": total.value, "x": x + 1}

    return ipu.compile(main, args=(np.float32(1),), target=TARGET)


def test_counts_are_those_of_the_last_run():
    exe = program()
    session = exe.session(counted=True)
    found = session(np.float32(1))
    assert int(found["total"]) == 20 and float(found["x"]) == 2
    profile = session.profile()
    assert profile.execution.measured and not profile.execution.unknown_counts
    dequeues = [
        each.count
        for step, each in zip(profile.compilation.steps, profile.execution.steps, strict=True)
        if step.name == "dequeue of @numbers"
    ]
    assert dequeues == [1, 3]
    assert int(session(np.float32(1))["total"]) == 22
    assert session.profile().execution.cycles.total < profile.execution.cycles.total
    assert session.statistics()["numbers"].elements == 6


def test_as_sessions_that_do_not_count():
    exe = program()
    one, other = exe.session(counted=True), exe.session()
    for _ in range(2):
        a, b = one(np.float32(1)), other(np.float32(1))
        np.testing.assert_array_equal(a["total"], b["total"])
    with pytest.raises(
        ipu.RunError, match=r"runs of this session are not counted; make one with session\(counted=True\)"
    ):
        other.profile()


def test_several_programs():
    def loop(x):
        return ipu.while_loop(lambda y: y < 100, lambda y: y * 2, x)

    exe = ipu.compile(
        {"a": loop, "b": lambda x: x + 1}, args={"a": (np.float32(1),), "b": (np.float32(1),)}, target=TARGET
    )
    session = exe.session(counted=True)
    with pytest.raises(ipu.RunError, match="program 'a' has not run in this session, and nothing was counted"):
        session.profile("a")
    with pytest.raises(ipu.RunError, match="the session has the programs a, b: say of which, by its name"):
        session.profile()
    session.run("a", np.float32(1))
    session.run("b", np.float32(1))
    assert 7 in [step.count for step in session.profile("a").execution.steps]
    assert session.profile("b").execution.measured
