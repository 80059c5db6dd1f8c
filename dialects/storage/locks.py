"""Locks between processes: those of the system on open files, which end with the process that holds them.

A lock is on the file that it protects, or on its folder: nothing is left beside the files of the user, and a process
that is killed holds none.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def folder_lock(folder: str) -> Iterator[None]:
    """Let no other process or thread have the lock of ``folder`` during the block; they wait.

    File systems without locks give none: who needs more than saving work must not rely on it alone.
    """
    handle = None
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if handle is not None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)  # also for children that were forked meanwhile
            os.close(handle)


def lock_as_owner(handle: int) -> None:
    """Lock the file ``handle``, as a sign that its writer lives. Nothing where the file system has no locks."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)


def has_no_owner(handle: int) -> bool:
    """True if nobody alive has the file ``handle`` locked, which is locked now."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
