"""Products on one thread, in blocks that may be several at a time."""

import os
import threading

from ipu_mlir.runtime.numeric.blas import thread_control


class _OneThread:
    """Products have one thread in ``with`` blocks of this, which may be several at a time and inside each other.

    The setting is that of the process: the first block to begin changes it, and the last to end puts it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._before = 1

    def __enter__(self) -> None:
        control = thread_control()
        with self._lock:
            if self._blocks == 0 and control is not None:
                set_threads, get_threads = control
                self._before = get_threads()
                set_threads(1)
            self._blocks += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._blocks -= 1
            if self._blocks == 0:
                self._put_back()

    def _put_back(self) -> None:
        control = thread_control()
        if control is not None:
            control[0](self._before)

    def in_child(self) -> None:
        """Forget the blocks of threads that this process, a fork, does not have."""
        if self._blocks:
            self._put_back()
        self._lock, self._blocks = threading.Lock(), 0


ONE_THREAD = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ONE_THREAD.in_child)
