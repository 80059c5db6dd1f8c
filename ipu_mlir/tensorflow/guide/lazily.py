"""Packages of the guide whose modules and names are imported when they are first asked for (PEP 562)."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ipu_mlir.tensorflow.guide.later import later

_ROOT = "ipu_mlir.tensorflow.ipu"


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of ``package``: the names of the guide there, also those whose time comes later.

    Args:
        homes: by name, the module below the package that it is in; a module is in itself.
    """
    inside = package.removeprefix(_ROOT).removeprefix(".")

    def __getattr__(name: str) -> Any:
        if name in homes:
            module = importlib.import_module(f"{package}.{homes[name]}")
            return module if homes[name].rpartition(".")[2] == name else getattr(module, name)
        if (found := later(f"{inside}.{name}" if inside else name)) is not None:
            return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {', '.join(sorted(homes))}")

    return __getattr__, lambda: sorted(homes)
