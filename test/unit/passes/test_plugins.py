"""Passes from a user's file."""

from pathlib import Path

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes.core.pipeline_text import PipelineError
from ipu_mlir.passes.plugins import load_installed, load_plugin, loaded_passes, planner_named

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
    (mine,) = load_plugin(path).passes
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
        load_plugin(path)


def test_a_file_that_is_not_there_or_not_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="No such file"):
        load_plugin(tmp_path / "absent.py")
    (tmp_path / "mine.txt").write_text(PASS)
    with pytest.raises(CompileError, match=r"ends in \.py"):
        load_plugin(tmp_path / "mine.txt")


DIALECT = '''
from typing import Any
from ipu_mlir.dialects.codelets.library import SORT
from ipu_mlir.dialects.support.bindings import ext
from ipu_mlir.dialects.support.diagnostics import fail

class Zoo(ext.Dialect, name="zoo"):
    """Animals."""

class CatOp(Zoo.Operation, name="cat"):
    """A cat of a size."""
    size: ext.Operand[Any]

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return True

def whole(operation, target):
    return None

PLANNERS = {"whole": whole}
'''


def test_a_dialect_is_known_to_every_context_and_a_planner_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "zoo.py"
    path.write_text(DIALECT)
    plugin = load_plugin(path)
    assert load_plugin(path) is plugin
    assert [each.__name__ for each in plugin.dialects] == ["Zoo"] and not plugin.codelets
    assert planner_named("whole") is plugin.planners["whole"]
    with pytest.raises(PipelineError, match="no plugin has a planner 'hole'; did you mean 'whole'"):
        planner_named("hole")
    for _ in range(2):
        with ipu.context():
            assert ir.Module.parse('func.func @f(%x: i32) { "zoo.cat"(%x) : (i32) -> () return }')
            with pytest.raises(ir.MLIRError):
                ir.Module.parse('"zoo.dog"() : () -> ()')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (DIALECT.replace('"zoo"', '"arith"'), "there is a dialect 'arith' already; give Zoo another name"),
        ("PLANNERS = [1]\n", r"PLANNERS is \[1\]; expected a dict of functions by name"),
    ],
)
def test_what_cannot_be_a_plugin_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.py").write_text(content)
    with pytest.raises(CompileError, match=message):
        load_plugin(tmp_path / "bad.py")


def test_installed_packages_are_found_by_their_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_plugin_package.py").write_text(PASS.replace("my-pass", "pass-of-package"))
    info = tmp_path / "my_plugin_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ipu_mlir.plugins]\nmine = my_plugin_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [each.name for plugin in load_installed() for each in plugin.passes] == ["pass-of-package"]
    assert "pass-of-package" in [each.name for each in loaded_passes()]
    (info / "entry_points.txt").write_text("[ipu_mlir.plugins]\nmine = not_there_at_all\n")
    with pytest.raises(
        CompileError, match="plugin 'mine' of the package my-plugin-package: cannot load the plugin not_there"
    ):
        load_installed()
