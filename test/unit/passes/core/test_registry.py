"""Passes from a user's file."""

from pathlib import Path

import pytest

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes.core.registry import load_passes

PASS = '''
from __future__ import annotations

from dataclasses import dataclass

from ipu_mlir.passes.core.base import Pass

@dataclass(frozen=True)
class Mine(Pass):
    """Mine."""
    name = "my-pass"
    grain: int = 1

class Base(Pass):
    """Without a name: for others to derive from."""
'''


def test_loads_the_passes_that_the_file_defines(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PASS)
    (mine,) = load_passes(path)
    assert mine.name == "my-pass" and mine(grain=3).grain == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = 1\n", "defines no pass; expected a class that derives from Pass and has a name"),
        ("import no_such_module_anywhere\n", "cannot load passes from .*no_such_module_anywhere"),
        ("def f(:\n", r"mine.py:1:7: error: invalid syntax"),
    ],
)
def test_a_file_without_passes_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(content)
    with pytest.raises(CompileError, match=message):
        load_passes(path)


def test_a_file_that_is_not_there_or_not_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="No such file"):
        load_passes(tmp_path / "absent.py")
    (tmp_path / "mine.txt").write_text(PASS)
    with pytest.raises(CompileError, match=r"ends in \.py"):
        load_passes(tmp_path / "mine.txt")
