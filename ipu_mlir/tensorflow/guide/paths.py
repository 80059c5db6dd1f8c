"""Modules of the guide by the paths that it shows, whatever folder they are in here, or whether they are here at all.

``import ipu_mlir.tensorflow.ipu.slicing_ops`` finds the module of ``ipu.ops``; a module that comes later, and a name
that a module of ours does not have yet, say so as ``later`` does.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from ipu_mlir.tensorflow.guide.later import later, rows

ROOT = "ipu_mlir.tensorflow.ipu"
_ESTIMATORS = f"{ROOT}.estimators"


def name_in_guide(module: str) -> str:
    """The name that the guide has for a module, which it may know by two: ``slicing_ops`` for ``ops.slicing_ops``.

    >>> name_in_guide("ipu_mlir.tensorflow.ipu.ops.slicing_ops"), name_in_guide("ipu_mlir.tensorflow.ipu.loops")
    ('slicing_ops', 'loops')
    """
    inside = module.removeprefix(ROOT).removeprefix(".")
    return next((row.signature for row in rows() if row.kind == "alias" and row.name == inside), inside)


def attribute(module: str, name: str) -> Any:
    """The name of a module whose time comes later.

    Raises:
        AttributeError: the guide has no such name there.
    """
    if (own := _by_other_name(f"{module}.{name}")) is not None:
        return own
    inside = name_in_guide(module)
    found = later(f"{inside}.{name}" if inside else name)
    if found is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    return found


class _Finder(MetaPathFinder):
    """Finds what is below ``ROOT``."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if not fullname.startswith(f"{ROOT}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None:
            if type(spec.loader) is SourceFileLoader:
                spec.loader = _Own(spec.loader.name, spec.loader.path)
            return spec
        module = _elsewhere(fullname)
        return None if module is None else ModuleSpec(fullname, _There(module), is_package=hasattr(module, "__path__"))


def _elsewhere(fullname: str) -> ModuleType | None:
    """The module of that name, which is in another folder or comes later; None if there is none."""
    inside = name_in_guide(fullname)
    if (own := _by_other_name(fullname)) is not None:
        return own
    if _is_there(f"{_ESTIMATORS}.{inside}"):
        return importlib.import_module(f"{_ESTIMATORS}.{inside}")
    for row in rows():
        home = f"{ROOT}.{row.name}"
        if row.kind == "alias" and row.signature == inside and home != fullname and _is_there(home):
            return importlib.import_module(home)
    found = later(inside)
    return found if isinstance(found, ModuleType) else None


def _by_other_name(fullname: str) -> ModuleType | None:
    """The module that the guide knows by another name than ``fullname``, and that is found by that."""
    own = f"{ROOT}.{name_in_guide(fullname)}"
    return importlib.import_module(own) if own != fullname and _is_there(own) else None


def _is_there(module: str) -> bool:
    folder = module.rpartition(".")[0]
    if folder not in (ROOT, f"{ROOT}.ops", _ESTIMATORS):
        return False
    return PathFinder.find_spec(module, importlib.import_module(folder).__path__) is not None


class _Own(SourceFileLoader):
    """Loads a module of ours, which says of the names that it does not have yet that they come later."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if "__getattr__" not in module.__dict__:
            module.__getattr__ = lambda name: attribute(module.__name__, name)  # type: ignore[method-assign]


class _There(Loader):
    """Gives a module that is there."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


def find_names_of_the_guide() -> None:
    """Let ``import`` find modules by the paths of the guide."""
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
