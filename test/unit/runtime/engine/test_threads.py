"""Block loops: every piece once, errors reach the caller, loops within threads."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ipu_mlir.runtime.engine.numpy_state import UFUNC_BUFFER
from ipu_mlir.runtime.engine.one_thread import ONE_THREAD
from ipu_mlir.runtime.engine.threads import run_blocks
from ipu_mlir.runtime.numeric.blas import thread_control


@pytest.mark.parametrize(("units", "size"), [(1, 1), (10, 3), (7, 7), (7, 100), (1000, 1)])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_unit_is_done_once(units, size, threads):
    done = [0] * units

    def block(lo: int, hi: int, step: int) -> None:
        assert 0 < hi - lo <= size
        for unit in range(lo, hi):
            done[unit] += step

    run_blocks([block] * threads, units, size, (1,))
    assert done == [1] * units


def test_each_thread_has_its_own_copy_of_the_block():
    seen: dict[int, set[int]] = {0: set(), 1: set()}

    def block(number: int):
        return lambda lo, hi: seen[number].add(threading.get_ident())

    for _ in range(20):
        run_blocks([block(0), block(1)], 50, 1, ())
    assert len(seen[0]) == 1, "the caller's thread"
    assert seen[0].isdisjoint(seen[1])


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_reaches_the_caller_after_all_threads_have_stopped(failing):
    started = threading.Barrier(2, timeout=10)
    running = []

    def block(number: int):
        def run(lo: int, hi: int) -> None:
            running.append(number)
            started.wait()
            running.remove(number)
            if number == failing:
                raise ValueError("of the block")

        return run

    with pytest.raises(ValueError, match="of the block"):
        run_blocks([block(0), block(1)], 2, 1, ())
    assert running == []
    run_blocks([lambda lo, hi: None] * 2, 4, 1, ())  # the helper is alive


def test_blas_threads_can_be_set_where_openblas_is_found():
    control = thread_control()
    if control is None:
        pytest.skip("NumPy does not bundle OpenBLAS here")
    set_threads, get_threads = control
    before = get_threads()
    set_threads(1)
    assert get_threads() == 1
    set_threads(before)
    assert get_threads() == before


@pytest.mark.skipif(thread_control() is None, reason="NumPy does not bundle OpenBLAS here")
def test_threads_that_want_one_thread_of_blas_at_a_time_leave_it_as_it_was():
    """The first to come is not the last to go."""
    set_threads, get_threads = thread_control()
    before = get_threads()
    inside, leave = threading.Event(), threading.Event()

    def waits() -> None:
        with ONE_THREAD:
            inside.set()
            leave.wait(10)

    set_threads(2)
    try:
        with ThreadPoolExecutor(1) as pool:
            with ONE_THREAD:
                other = pool.submit(waits)
                inside.wait(10)
            assert get_threads() == 1, "the other is not done"
            leave.set()
            other.result(10)
        assert get_threads() == 2
    finally:
        set_threads(before)


def test_a_numpy_without_openblas_is_no_error(monkeypatch, tmp_path):
    monkeypatch.setattr("ipu_mlir.runtime.numeric.blas.np.__file__", str(tmp_path / "numpy" / "__init__.py"))
    thread_control.cache_clear()
    try:
        assert thread_control() is None
        with ONE_THREAD:
            pass
    finally:
        thread_control.cache_clear()


def test_helper_threads_have_the_settings_of_programs_and_the_caller_keeps_its_own():
    before = np.getbufsize(), np.geterr()
    seen: dict[int, tuple[int, str]] = {}
    both = threading.Barrier(2, timeout=10)

    def block(number: int):
        def run(lo: int, hi: int) -> None:
            both.wait()
            seen[number] = (np.getbufsize(), np.geterr()["over"])

        return run

    run_blocks([block(0), block(1)], 2, 1, ())
    assert seen[1] == (UFUNC_BUFFER, "ignore")
    assert (np.getbufsize(), np.geterr()) == before


def test_a_fork_has_helpers_of_its_own(ends_well_in_a_child):
    def both_threads_work() -> None:
        both = threading.Barrier(2, timeout=5)
        run_blocks([lambda lo, hi: both.wait()] * 2, 2, 1, ())

    both_threads_work()
    assert ends_well_in_a_child(both_threads_work)
    assert ends_well_in_a_child(lambda: ends_well_in_a_child(both_threads_work) or os._exit(3)), "a fork of a fork"
    both_threads_work()


def test_a_fork_while_blocks_run_in_another_thread(ends_well_in_a_child):
    started, go_on = threading.Event(), threading.Event()

    def slow(lo: int, hi: int) -> None:
        started.set()
        go_on.wait(20)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_blocks, [slow] * 2, 2, 1, ())
        started.wait(10)
        assert ends_well_in_a_child(lambda: run_blocks([lambda lo, hi: None] * 3, 9, 1, ()))
        go_on.set()
        running.result(20)


@pytest.mark.skipif(thread_control() is None, reason="NumPy does not bundle OpenBLAS here")
def test_a_fork_does_not_wait_for_threads_that_it_does_not_have_to_give_blas_its_threads_back(ends_well_in_a_child):
    set_threads, get_threads = thread_control()
    before = get_threads()

    def has_two() -> None:
        with ONE_THREAD:
            assert get_threads() == 1
        assert get_threads() == 2

    set_threads(2)
    try:
        with ONE_THREAD:
            assert ends_well_in_a_child(has_two)
    finally:
        set_threads(before)
