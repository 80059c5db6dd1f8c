"""An old Python is refused before pip looks for a quarter of an hour for what would suit it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETS = 'import sys; sys.version_info = (3, 10, 13, "final", 0); exec(sys.argv[1])'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the project as far as make looks at it, with a Python that says it is 3.10."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    old = tmp_path / "old-python"
    old.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{SETS}' \"$2\"\n")
    old.chmod(0o755)
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
@pytest.mark.parametrize("goal", ["demo", "test"])
def test_an_old_python(folder: Path, goal: str) -> None:
    done = make(folder, goal, "PYTHON=./old-python")
    first = done.stderr.splitlines()[0]
    assert done.returncode != 0 and not (folder / ".venv").exists()
    assert first == (
        "ipu-mlir needs Python 3.11 or newer, but ./old-python is 3.10: name another with make PYTHON=python3.11"
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_an_environment_of_an_old_python(folder: Path) -> None:
    (folder / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(folder / "old-python", folder / ".venv" / "bin" / "python")
    done = make(folder, "demo", "PYTHON=true")  # makes no environment over that which is there
    assert done.stderr.splitlines()[0].endswith(".venv/bin/python is 3.10: remove that environment with make clean")


def test_make_and_pip_ask_for_the_same_version() -> None:
    (asked,) = re.findall(r"sys.version_info < \((\d+), (\d+)\)", (ROOT / "Makefile").read_text())
    assert f'requires-python = ">={".".join(asked)}"' in (ROOT / "pyproject.toml").read_text()
