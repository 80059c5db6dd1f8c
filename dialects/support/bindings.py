"""The one place that imports MLIR.

Everything else takes ``ir``, ``ext`` and the upstream dialect modules from here. The bindings come from the
``torch_mlir`` wheel; set ``IPU_MLIR_BINDINGS=mlir`` to take upstream's own package instead.
"""

import importlib
import os
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

PROVIDER = os.environ.get("IPU_MLIR_BINDINGS", "torch_mlir")

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
importlib.import_module(f"{PROVIDER}._mlir_libs._mlir").globals.append_dialect_search_prefix("ipu_mlir.dialects")


@cache
def compiled(module: str) -> ModuleType:
    """A compiled module of the bindings; ``_mlirDialectsLinalg`` answers without the 60 ms that its dialect takes."""
    return importlib.import_module(f"{PROVIDER}._mlir_libs.{module}")


@cache
def upstream(dialect: str) -> ModuleType:
    """The module of an upstream dialect, imported when it is first asked for: ``upstream("linalg")``."""
    return importlib.import_module(f"{PROVIDER}.dialects.{dialect}")
