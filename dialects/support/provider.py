"""The package that MLIR comes from, without an import of it."""

import os
from importlib.util import find_spec
from pathlib import Path

PROVIDER = os.environ.get("IPU_MLIR_BINDINGS", "torch_mlir")


def libraries() -> list[Path]:
    """The shared libraries that LLVM is in; none without the package."""
    return _compiled("lib*")


def has_execution_engine() -> bool:
    """True if the package can make machine code of modules."""
    return bool(_compiled("_mlirExecutionEngine.*.so"))


def _compiled(pattern: str) -> list[Path]:
    found = find_spec(PROVIDER)
    places = (found.submodule_search_locations if found else None) or ()
    return sorted(each for place in places for each in Path(place, "_mlir_libs").glob(pattern))
