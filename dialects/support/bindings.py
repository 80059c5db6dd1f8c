"""The one place that imports MLIR.

Everything else takes ``ir``, ``ext`` and the upstream dialect modules from here. The bindings come from the
``torch_mlir`` wheel; set ``IPU_MLIR_BINDINGS=mlir`` to take upstream's own package instead.
"""

import ctypes
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ipu_mlir.dialects.support.provider import PROVIDER


def _address(library: str | None, symbol: str) -> int | None:
    """Where ``symbol`` lies in a library, or in what all libraries see (None); None if it is not there."""
    found = getattr(ctypes.CDLL(library), symbol, None)
    return found and ctypes.cast(found, ctypes.c_void_p).value


@contextmanager
def _apart_from_other_llvm() -> Iterator[None]:
    """Let what is loaded in the block find its own LLVM first.

    TensorFlow shows the symbols of its LLVM to every library that is loaded after it; MLIR, bound to them, would end
    the process with "inconsistency in registered CommandLine options". What is loaded once stays bound as it is.

    Raises:
        ImportError: another ``malloc`` than that of the C library is preloaded. MLIR would allocate with one of them
            and free with the other.
    """
    if sys.platform != "linux" or _address(None, "_ZN4llvm2cl6Option11addArgumentEv") is None:
        yield
        return
    if _address(None, "malloc") != _address("libc.so.6", "malloc"):
        raise ImportError(
            "another LLVM (that of TensorFlow) is loaded already, and LD_PRELOAD replaces malloc: MLIR cannot be "
            "loaded safely; import ipu_mlir.compile (or torch_mlir) before tensorflow, or leave LD_PRELOAD empty"
        )
    before = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
    try:
        yield
    finally:
        sys.setdlopenflags(before)


if f"{PROVIDER}._mlir_libs._mlir" not in sys.modules:
    with _apart_from_other_llvm():
        importlib.import_module(f"{PROVIDER}._mlir_libs._mlir")

if TYPE_CHECKING:
    from torch_mlir import ir, passmanager, rewrite
    from torch_mlir.dialects import ext
else:
    ir = importlib.import_module(f"{PROVIDER}.ir")
    ext = importlib.import_module(f"{PROVIDER}.dialects.ext")
    rewrite = importlib.import_module(f"{PROVIDER}.rewrite")
    passmanager = importlib.import_module(f"{PROVIDER}.passmanager")

ADVANCE, SKIP_INSIDE = ir.WalkResult.ADVANCE, ir.WalkResult.SKIP
"""Answers of what is called for each op of a walk: to look one up in its class takes as long as the rest of a call."""

# Without a module named <prefix>.<namespace> the bindings search for one each time that an op of the dialect
# becomes an OpView, which makes every walk 4 to 40 times slower.
_globals = importlib.import_module(f"{PROVIDER}._mlir_libs._mlir").globals
_globals.dialect_search_modules = ["ipu_mlir.dialects", *_globals.dialect_search_modules]


@cache
def compiled(module: str) -> ModuleType:
    """A compiled module of the bindings: ``_mlirDialectsLinalg`` answers without what its dialect has in Python."""
    return importlib.import_module(f"{PROVIDER}._mlir_libs.{module}")


@cache
def upstream(dialect: str) -> ModuleType:
    """The module of an upstream dialect, imported when it is first asked for: ``upstream("linalg")``."""
    return importlib.import_module(f"{PROVIDER}.dialects.{dialect}")


@cache
def execution_engine() -> Any:
    """The class that makes machine code of modules.

    Raises:
        ImportError: the wheel has none.
    """
    return importlib.import_module(f"{PROVIDER}.execution_engine").ExecutionEngine
