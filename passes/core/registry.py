"""Passes by name: the tables of them, and the nearest one to a name that does not exist."""

import difflib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from importlib import import_module

from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.pipeline_text import PipelineError


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest known name, or nothing where none is near.

    >>> suggestion("ipu-partiton", ["ipu-partition", "cse"])
    "; did you mean 'ipu-partition'?"
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def by_name(pass_classes: Iterable[type[Pass]]) -> Mapping[str, type[Pass]]:
    """Pass classes by their names.

    Raises:
        PipelineError: two of them have one name.
    """
    named: dict[str, type[Pass]] = {}
    for pass_class in pass_classes:
        other = named.setdefault(pass_class.name, pass_class)
        if other is not pass_class:
            modules = f"{other.__module__}.{other.__name__} and {pass_class.__module__}.{pass_class.__name__}"
            raise PipelineError(f"two passes are named '{pass_class.name}': {modules}; rename one")
    return named


class PassesByName(Mapping[str, type[Pass]]):
    """The passes in the files of a package and of those below it; a file is imported when its pass is asked for.

    ``ipu-place-tensors`` is in a file ``place_tensors.py``. Who asks for all names imports all files.
    """

    def __init__(self, path: Iterable[str], package: str) -> None:
        self._others: Mapping[str, type[Pass]] = {}
        self._files: dict[str, list[str]] = {}
        for file in pkgutil.walk_packages(path, f"{package}."):
            if not file.ispkg:
                name = "ipu-" + file.name.rpartition(".")[2].replace("_", "-")
                self._files.setdefault(name, []).append(file.name)

    def with_others(self, pass_classes: Sequence[type[Pass]]) -> "PassesByName":
        """These passes and ``pass_classes``.

        Raises:
            PipelineError: two of them have one name.
        """
        found, own = copy(self), [self[each.name] for each in pass_classes if each.name in self]
        found._others = by_name([*own, *self._others.values(), *pass_classes])
        return found

    def __getitem__(self, name: str) -> type[Pass]:
        if name in self._others:
            return self._others[name]
        for file in self._files[name]:
            for each in vars(import_module(file)).values():
                if isinstance(each, type) and issubclass(each, Pass) and getattr(each, "name", "") == name:
                    return each
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in dict.fromkeys((*self._files, *self._others)) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
