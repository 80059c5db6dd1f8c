"""What only acts, checks and prints: under ``vmap`` it is for the examples that come by it."""

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.array([[1, 2], [-3, -4], [5, 6]], np.float32)
TARGET = ipu.Target(tiles_per_ipu=4)


def check_first(x):
    ipu.debug.check(x[0] > 0, "the first is positive")
    return x * 2


def everywhere(x, n):
    ipu.debug.check(np.all(x < 10), "all are below 10")
    return x + n


def in_a_branch(x, n):
    return ipu.cond(x.sum() > 0, check_first, lambda a: a, x)


def called_in_a_branch(x, n):
    return ipu.cond(x.sum() > 0, ipu.outlined(check_first), lambda a: a, x)


def called_in_a_branch_for_all(x, n):
    return ipu.cond(n > 0, lambda a: a + ipu.outlined(check_first)(np.array([-1, 1], np.float32)), lambda a: a, x)


def in_a_nested_branch(x, n):
    return ipu.cond(x.sum() > 0, lambda a: ipu.cond(n > 0, check_first, lambda a: a, a), lambda a: a, x)


def in_a_branch_for_all(x, n):
    return ipu.cond(x.sum() > 0, lambda a: ipu.cond(n.sum() > 0, check_first, lambda a: a, a), lambda a: a, x)


def in_a_case(x, n):
    return ipu.switch(n, [lambda a: a + 1, check_first, lambda a: a + 2], x)


def in_the_default_case(x, n):
    return ipu.switch(n, [lambda a: a + 1, lambda a: a + 2, check_first], x)


def in_a_loop(x, n):
    def body(i, a):
        ipu.debug.check(i < 2, "below 2")
        return a + 1

    return ipu.fori_loop(0, n, body, x)


def in_a_while_loop(x, n):
    def body(a):
        ipu.debug.check(a.sum() < 15 - n, "small enough")
        return a * 2

    return ipu.while_loop(lambda a: a.sum() < 15, body, abs(x))


HOLD = {
    "everywhere": (everywhere, X, (1, 2, 3), X + np.arange(1, 4)[:, None]),
    "in a branch": (in_a_branch, X, (0, 0, 0), [[2, 4], [-3, -4], [10, 12]]),
    "called in a branch": (called_in_a_branch, X, (0, 0, 0), [[2, 4], [-3, -4], [10, 12]]),
    "called in a branch that no example takes": (called_in_a_branch_for_all, X, (0, 0, 0), X),
    "in a branch that no example takes": (in_a_branch, -abs(X), (0, 0, 0), -abs(X)),
    "in a nested branch": (in_a_nested_branch, X * [-1, 1], (0, 1, -1), X * [-1, 1]),
    "in a case": (in_a_case, X, (1, 0, 1), [[2, 4], [-2, -3], [10, 12]]),
    "in the default case": (in_the_default_case, X, (2, 0, 1), [[2, 4], [-2, -3], [7, 8]]),
    "in a loop": (in_a_loop, X, (0, 1, 2), X + np.arange(3)[:, None]),
    "in a while loop": (in_a_while_loop, X, (0, 0, 0), [[8, 16], [12, 16], [10, 12]]),
}
FAIL = {
    "called in a branch": (called_in_a_branch, X * [-1, 1], (0, 0, 0), "the first is positive"),
    "called in a branch for all": (called_in_a_branch_for_all, X, (0, 1, 0), "the first is positive"),
    "everywhere": (everywhere, X * 9, (1, 2, 3), "all are below 10"),
    "in a branch": (in_a_branch, X * [-1, 1], (0, 0, 0), "the first is positive"),
    "in a nested branch": (in_a_nested_branch, X * [-1, 1], (1, 0, 0), "the first is positive"),
    "in a case": (in_a_case, X, (0, 1, 2), "the first is positive"),
    "in the default case": (in_the_default_case, X, (0, 2, 1), "the first is positive"),
    "in a loop": (in_a_loop, X, (0, 3, 1), "below 2"),
    "in a while loop": (in_a_while_loop, X, (0, 2, 0), "small enough"),
}


def run(function, x, numbers, in_axes=0):
    x, numbers = np.asarray(x, np.float32), np.asarray(numbers, np.int32)
    return ipu.compile(ipu.vmap(function, in_axes), args=[x, numbers], target=TARGET)(x, numbers)


@pytest.mark.parametrize("name", HOLD)
def test_those_that_do_not_come_by_may_be_otherwise(name: str):
    function, x, numbers, expected = HOLD[name]
    np.testing.assert_array_equal(run(function, x, numbers), np.asarray(expected, np.float32))


@pytest.mark.parametrize("name", FAIL)
def test_one_that_comes_by_is_enough(name: str):
    function, x, numbers, message = FAIL[name]
    with pytest.raises(ipu.RunError, match=message):
        run(function, x, numbers)


def test_a_check_that_is_the_same_for_all_is_of_those_that_come_by():
    x = X * [-1, 1]
    with pytest.raises(ipu.RunError, match="the first is positive"):
        run(in_a_branch_for_all, x, (1, 1), (0, None))
    np.testing.assert_array_equal(run(in_a_branch_for_all, x, (0, 0), (0, None)), np.float32(x))
    np.testing.assert_array_equal(run(in_a_branch_for_all, -abs(x), (1, 1), (0, None)), -np.float32(abs(x)))


def test_all_examples_are_printed_at_once(capfd):
    run(lambda x, n: ipu.debug.print("x {}", x[0] + n) or x, X, (0, 1, 2))
    assert capfd.readouterr().err == "x: [1. -2. 7.]\n"


def _check_in_a_condition(x, n):
    def condition(a):
        ipu.debug.check(a.sum() < 20)
        return a.sum() < 15

    return ipu.while_loop(condition, lambda a: a * 2, abs(x))


BAD = [
    (lambda x, n: ipu.cond(n > 0, lambda a: ipu.debug.print("x {}", a) or a, abs, x), "only some of the examples"),
    (_check_in_a_condition, "do that in the body of the loop"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_refused(number: int):
    function, message = BAD[number]
    with pytest.raises(ipu.IpuError, match=message):
        run(function, X, (0, 1, 2))
