"""The examples in docstrings are true."""

import doctest
import importlib
from pathlib import Path

import pytest

from ipu_mlir.frontends.table import FRONT_ENDS

ROOT = Path(__file__).parents[2]
FRAMEWORKS = {package for each in FRONT_ENDS for package in (*each.packages, *each.types)}
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
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in FRAMEWORKS:
            raise
        pytest.skip(f"needs {error.name}")
    if ">>>" not in Path(str(module.__file__)).read_text():  # looking for examples takes as long as most of them run
        return
    failed, _ = doctest.testmod(module)
    assert failed == 0, f"{failed} examples in {name} give something else; see the output above"


def test_there_are_examples():
    """The search for examples works: a docstring that is known to have one is found."""
    module = importlib.import_module("ipu_mlir.dialects.machine.target")
    assert doctest.testmod(module).attempted > 0
