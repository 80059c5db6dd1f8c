"""Something that may end the process, tried in a child of it."""

import ctypes
import os
import signal
import threading
import time

import pytest

from ipu_mlir.dialects.support.trial import tried

_MEBIBYTE = 1 << 20


def _nothing() -> bytes:
    return b""


def _compute(seconds: float) -> bytes:
    """Processor time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return b""


def test_what_goes_well_says_nothing_and_leaves_nothing() -> None:
    seen: list[int] = []
    assert tried(lambda: seen.append(1) or b"", 5, 64 * _MEBIBYTE) == ("", b"")
    assert seen == []


def test_what_it_gives_comes_back() -> None:
    assert tried(lambda: b"\0\xff" + b"x" * 900_000, 5, 64 * _MEBIBYTE) == ("", b"\0\xff" + b"x" * 900_000)


def test_an_exception_is_an_ending() -> None:
    assert tried(lambda: bytes(1 // 0), 5, 64 * _MEBIBYTE) == ("it fails", b"")


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (lambda: ctypes.string_at(0), "it would end the process (SIGSEGV)"),
        (os.abort, "it would end the process (SIGABRT)"),
        (lambda: _compute(100), "it takes longer than 1 s"),
        pytest.param(lambda: bytes(time.sleep(100)), "it takes longer than 10 s", marks=pytest.mark.slow),
    ],
)
def test_how_it_ends_is_said(action, said, capfd) -> None:
    assert tried(action, 1, 64 * _MEBIBYTE) == (said, b"")
    assert capfd.readouterr() == ("", "")


def test_the_memory_of_a_child_is_limited() -> None:
    ending, said = tried(lambda: bytes(bytearray(1 << 38)), 20, 64 * _MEBIBYTE)
    assert (ending, said) == ("it would end the process (SIGKILL)", b"")


def test_no_child_and_no_pipe_stays_behind() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        tried(_nothing, 5, 64 * _MEBIBYTE)
        tried(os.abort, 5, 64 * _MEBIBYTE)
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_interrupt_ends_the_child_as_well() -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tried(lambda: bytes(time.sleep(60)), 60, 64 * _MEBIBYTE)
    assert time.monotonic() - started < 30
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.filterwarnings("error")
def test_threads_try_side_by_side() -> None:
    found: list[tuple[str, str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(tried(lambda: b"said", 20, 64 * _MEBIBYTE))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [("", b"said")] * 8


def test_a_program_that_wants_no_status_of_children_gets_an_answer() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert tried(lambda: b"said", 5, 64 * _MEBIBYTE) == ("", b"said")
        assert tried(lambda: os.abort() or b"", 5, 64 * _MEBIBYTE) == ("it fails", b"")
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_where_no_process_may_be_made_it_is_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    assert tried(lambda: b"said", 5, 64 * _MEBIBYTE) == ("", b"said")
