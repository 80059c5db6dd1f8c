"""Every pass of the project: the classes with a name in the modules of the phases."""

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipu_mlir.passes.core.base import Pass

    PASSES: tuple[type[Pass], ...]


def __getattr__(name: str) -> Any:
    """Find ``PASSES`` when they are first asked for: who needs one module of a phase need not import all of them."""
    if name != "PASSES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ipu_mlir.passes.core.base import Pass

    found = tuple(
        each
        for phase in pkgutil.iter_modules(__path__, f"{__name__}.")
        if phase.ispkg
        for file in pkgutil.walk_packages(import_module(phase.name).__path__, f"{phase.name}.")
        for each in vars(import_module(file.name)).values()
        if isinstance(each, type) and issubclass(each, Pass) and each.__module__ == file.name and hasattr(each, "name")
    )
    globals()["PASSES"] = found
    return found
