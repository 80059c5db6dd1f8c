"""Something that may end the process, tried first in a child of it."""

import faulthandler
import os
import signal
import threading
import warnings
from collections.abc import Callable

_SIZES = "/proc/self/statm"
_DONE = b"\0done"
_TIMES_REAL = 10
_forking = threading.Lock()  # the filters of warnings are shared by all threads


def tried(action: Callable[[], bytes], seconds: int, most_more_bytes: int) -> tuple[str, bytes]:
    """The end of a copy of this process that did ``action``, empty if well, and what ``action`` gave there.

    The copy has the memory of this process when it begins, and nothing that it does comes back. It may only do what
    needs no other thread: MLIR's code runs with the interpreter's lock held, so no thread is inside of it now.

    Args:
        seconds: of processor time, after which the copy ends, or of ten times as much real time.
        most_more_bytes: of memory beyond what this process has.
    """
    if not hasattr(os, "fork"):
        return "", action()
    reading, writing = os.pipe()
    try:
        with _forking, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python and others warn of locks that threads may hold: see above
            child = os.fork()
    except OSError:  # the system allows no more processes
        os.close(reading)
        os.close(writing)
        return "", action()
    if child == 0:
        _do(action, writing, seconds, most_more_bytes)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read()
        status = _status_of(child)
    except BaseException:  # interrupted
        os.kill(child, signal.SIGKILL)
        _status_of(child)
        raise
    if said.endswith(_DONE):
        return "", said.removesuffix(_DONE)
    if status in (-signal.SIGPROF, -signal.SIGALRM):
        times = 1 if status == -signal.SIGPROF else _TIMES_REAL
        return f"it takes longer than {times * seconds} s", b""
    if status < 0:
        return f"it would end the process ({signal.Signals(-status).name})", b""
    return "it fails", b""


def _status_of(child: int) -> int:
    """Its exit status, negative for a signal; 1 if the system keeps none because the program around us wants none."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:
        return 1


def _do(action: Callable[[], bytes], writing: int, seconds: int, most_more_bytes: int) -> None:
    """The life of the copy."""
    try:
        faulthandler.disable()
        for number in (signal.SIGALRM, signal.SIGPROF, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(_TIMES_REAL * seconds)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        _limit_memory(most_more_bytes)
        with os.fdopen(writing, "wb") as pipe:
            pipe.writelines((action(), _DONE))
    except MemoryError:
        os.kill(os.getpid(), signal.SIGKILL)  # as the system does where there is no limit
    finally:
        os._exit(1)


def _limit_memory(more_bytes: int) -> None:
    """No more than ``more_bytes`` in addition to what there is, where the system says that; and no file of a core."""
    import resource  # only where there is a fork

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not os.path.exists(_SIZES):
        return
    with open(_SIZES, encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    limit, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + more_bytes
    if limit == resource.RLIM_INFINITY or wanted < limit:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
