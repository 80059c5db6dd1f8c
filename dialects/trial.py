"""Something that may end the process, tried first in a child of it."""

import faulthandler
import os
import resource
import signal
import threading
import warnings
from collections.abc import Callable

_forking = threading.Lock()  # the filters of warnings are shared by all threads


def tried(action: Callable[[], str], seconds: int, most_more_bytes: int) -> tuple[str, str]:
    """How a copy of this process ended that did ``action``, empty if well, and what ``action`` gave there.

    The copy has the memory of this process when it begins, and nothing that it does comes back. It may only do what
    needs no other thread: MLIR's code runs with the interpreter's lock held, so no thread is inside of it now.

    Args:
        seconds: of real time, after which the copy ends.
        most_more_bytes: of memory beyond what this process has.
    """
    if not hasattr(os, "fork"):
        return "", action()
    reading, writing = os.pipe()
    with _forking, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python and others warn of locks that threads may hold: see above
        child = os.fork()
    if child == 0:
        _do(action, writing, seconds, most_more_bytes)
    os.close(writing)
    status = None
    try:
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode(errors="replace")
        status = os.waitpid(child, 0)[1]
    finally:
        if status is None:  # interrupted
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGALRM:
        return f"it takes longer than {seconds} s", ""
    if code < 0:
        return f"it would end the process ({signal.Signals(-code).name})", ""
    return ("it fails" if code else ""), said


def _do(action: Callable[[], str], writing: int, seconds: int, most_more_bytes: int) -> None:
    """The life of the copy."""
    status = 1
    try:
        faulthandler.disable()
        for number in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(seconds)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_memory(most_more_bytes)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(action().encode(errors="replace"))
        status = 0
    except MemoryError:
        os.kill(os.getpid(), signal.SIGKILL)  # as the system does where there is no limit
    finally:
        os._exit(status)


def _limit_memory(more_bytes: int) -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    limit, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + more_bytes
    if limit == resource.RLIM_INFINITY or wanted < limit:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
