"""Packages of the guide whose modules and names are imported when they are first asked for (PEP 562)."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ipu_mlir.tensorflow.guide.paths import attribute, find_names_of_the_guide

find_names_of_the_guide()


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of ``package``: the names of the guide there, also those whose time comes later.

    Args:
        homes: by name, the module below the package that it is in; a module is in itself.
    """

    def __getattr__(name: str) -> Any:
        if name in homes:
            module = importlib.import_module(f"{package}.{homes[name]}")
            return module if homes[name].rpartition(".")[2] == name else getattr(module, name)
        try:
            return attribute(package, name)
        except AttributeError as error:
            raise AttributeError(f"{error}; it has {', '.join(sorted(homes))}") from None

    return __getattr__, lambda: sorted(homes)
