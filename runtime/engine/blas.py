"""The number of threads of NumPy's own OpenBLAS. Where that library is not found, everything still works."""

import ctypes
import os
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

_SET = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")
_GET = ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads64_", "openblas_get_num_threads")


@lru_cache(maxsize=1)
def thread_control() -> tuple[Callable[[int], None], Callable[[], int]] | None:
    """(set, get) for the number of BLAS threads of this process; None if NumPy does not bundle OpenBLAS.

    One call takes 0.15 us; the setting is process-wide.
    """
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs", package / ".libs"):
        for path in sorted(folder.glob("*openblas*")):
            try:
                library = ctypes.CDLL(str(path))  # NumPy has loaded it: this is the same copy
            except OSError:
                continue
            setters = [name for name in _SET if hasattr(library, name)]
            getters = [name for name in _GET if hasattr(library, name)]
            if setters and getters:
                return getattr(library, setters[0]), getattr(library, getters[0])
    return None


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
