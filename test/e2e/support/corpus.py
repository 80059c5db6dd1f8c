"""The programs of ``test/corpus``: MLIR text, arguments, and the results that a framework computed."""

import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[2] / "corpus"


@dataclass(frozen=True)
class Program:
    """One program of the corpus.

    Attributes:
        origin: the framework that exported it, with its version.
        atol: per result how far it may be off.
        ill_conditioned: results that are compared loosely.
    """

    name: str
    origin: str
    atol: tuple[float, ...]
    ill_conditioned: frozenset[int]

    @property
    def mlir(self) -> Path:
        return FOLDER / self.name / "module.mlir"

    @property
    def io(self) -> Path:
        return FOLDER / self.name / "io.npz"

    @cached_property
    def inputs(self) -> list[np.ndarray]:
        """The arguments of ``@main``, in order."""
        return self._arrays("in")

    @cached_property
    def expected(self) -> list[np.ndarray]:
        """The results of ``@main``, in order, as the framework computed them."""
        return self._arrays("out")

    def _arrays(self, prefix: str) -> list[np.ndarray]:
        with np.load(self.io) as arrays:
            count = sum(name.startswith(prefix) for name in arrays.files)
            return [arrays[f"{prefix}{number}"] for number in range(count)]


def load_programs(folder: Path = FOLDER) -> dict[str, Program]:
    """The programs that the manifest of ``folder`` names."""
    entries: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text())["programs"]
    return {
        entry["name"]: Program(
            entry["name"], entry["origin"], tuple(entry["atol"]), frozenset(entry["ill_conditioned_outputs"])
        )
        for entry in entries
    }


@cache
def programs() -> dict[str, Program]:
    """The programs of the corpus, by name."""
    return load_programs()
