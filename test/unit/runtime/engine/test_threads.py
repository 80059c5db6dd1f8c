"""Block loops: every piece once, errors reach the caller, loops within threads."""

import threading

import numpy as np
import pytest

from ipu_mlir.runtime.engine.blas import thread_control
from ipu_mlir.runtime.engine.numpy_state import UFUNC_BUFFER
from ipu_mlir.runtime.engine.threads import run_blocks


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


def test_a_numpy_without_openblas_is_no_error(monkeypatch, tmp_path):
    monkeypatch.setattr("ipu_mlir.runtime.engine.blas.np.__file__", str(tmp_path / "numpy" / "__init__.py"))
    thread_control.cache_clear()
    try:
        assert thread_control() is None
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
