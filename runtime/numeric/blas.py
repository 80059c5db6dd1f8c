"""NumPy's own OpenBLAS: its threads, and how wide its vectors are. Where it is not found, everything still works."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__

_SET = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")
_GET = ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads64_", "openblas_get_num_threads")
_CORE = ("scipy_openblas_get_corename64_", "openblas_get_corename64_", "openblas_get_corename")
_OF_256_BITS = frozenset(["Haswell", "Zen", "Excavator"])  # cores whose products OpenBLAS computes so


@lru_cache(maxsize=1)
def thread_control() -> tuple[Callable[[int], None], Callable[[], int]] | None:
    """(set, get) for the number of BLAS threads of this process; None if NumPy does not bundle OpenBLAS.

    One call takes 0.15 us; the setting is process-wide.
    """
    for library in _libraries():
        setters = [name for name in _SET if hasattr(library, name)]
        getters = [name for name in _GET if hasattr(library, name)]
        if setters and getters:
            return getattr(library, setters[0]), getattr(library, getters[0])
    return None


@cache
def default_threads() -> int:
    """The threads that BLAS has unless told otherwise; 1 if nobody knows."""
    control = thread_control()
    return 1 if control is None else control[1]()


@cache
def is_narrow() -> bool:
    """True if BLAS computes with 256 bits where vectors have 512: it does not know all processors that are newer."""
    return bool(__cpu_features__.get("AVX512F")) and core_name() in _OF_256_BITS


def core_name() -> str:
    """The processor that OpenBLAS takes this one for; "" if NumPy has another BLAS."""
    for library in _libraries():
        for name in _CORE:
            if hasattr(library, name):
                ask = getattr(library, name)
                ask.restype = ctypes.c_char_p
                return str((ask() or b"").decode("ascii", "replace"))
    return ""


def _libraries() -> Iterator[ctypes.CDLL]:
    """What NumPy has loaded already: these are the same copies."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs", package / ".libs"):
        for path in sorted(folder.glob("*openblas*")):
            with suppress(OSError):
                yield ctypes.CDLL(str(path))
