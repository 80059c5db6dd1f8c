"""Threads take turns on a state; code that a run waits for is refused instead of waiting for that run."""

import threading
import time
from dataclasses import dataclass

import pytest

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.turns import Turn, serving


@dataclass
class Code:
    """Code of a user."""

    turn: Turn | None
    who: str = "the iterator of infeed 'f'"


def test_one_thread_may_take_its_turn_again() -> None:
    turn = Turn()
    with turn, turn:
        pass


def test_another_thread_waits() -> None:
    turn, order = Turn(), []

    def other() -> None:
        with turn:
            order.append("other")

    thread = threading.Thread(target=other)
    with turn:
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]


def test_code_that_serves_a_turn_does_not_get_it() -> None:
    turn, another = Turn("<Session of main>"), Turn()
    with serving(Code(turn)):
        with another:
            pass
        with pytest.raises(RunError, match=r"the iterator of infeed 'f' uses <Session of main>, whose runs wait"), turn:
            pass
        with serving(Code(another)), turn:  # the inner one is asked
            pass
    with turn:
        pass


def test_code_serves_in_its_own_thread_only() -> None:
    turn, found = Turn(), []

    def other() -> None:
        with turn:
            found.append("turn")

    with serving(Code(turn)):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(10)
    assert found == ["turn"]
