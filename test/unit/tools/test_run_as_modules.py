"""Every tool runs by ``python -m`` as by its name."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
SCRIPTS = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["scripts"]


@pytest.mark.parametrize("tool", SCRIPTS)
def test_a_tool_runs_as_a_module(tool: str) -> None:
    module, function = SCRIPTS[tool].split(":")
    assert function == "main"
    done = subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"usage: {tool}" in done.stdout
