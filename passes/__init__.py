"""Every pass of the project: the classes with a name in the modules of the phases."""

import pkgutil
from importlib import import_module

from ipu_mlir.passes.core.base import Pass

PASSES: tuple[type[Pass], ...] = tuple(
    found
    for phase in pkgutil.iter_modules(__path__, f"{__name__}.")
    if phase.ispkg
    for file in pkgutil.walk_packages(import_module(phase.name).__path__, f"{phase.name}.")
    for found in vars(import_module(file.name)).values()
    if isinstance(found, type) and issubclass(found, Pass) and found.__module__ == file.name and hasattr(found, "name")
)
