"""The examples in docstrings are true."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("dialects", "passes", "runtime", "ipu_mlir", "tools")


def module_names() -> list[str]:
    """Every module of the project by the name that programs import it under."""
    names = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            names.append(".".join(parts if folder == "ipu_mlir" else ("ipu_mlir", *parts)))
    return names


@pytest.mark.parametrize("name", module_names())
def test_examples_of(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0, f"{failed} examples in {name} give something else; see the output above"


def test_there_are_examples():
    """The search for examples works: a docstring that is known to have one is found."""
    module = importlib.import_module("ipu_mlir.dialects.machine.target")
    assert doctest.testmod(module).attempted > 0
