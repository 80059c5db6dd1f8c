"""The pytest runner of FileCheck tests can fail, and reads RUN lines as lit does."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    path = Path(__file__).parents[2] / "filecheck" / "conftest.py"
    spec = importlib.util.spec_from_file_location("filecheck_runner", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TEST = "func.func @f() {\n  return\n}\n// CHECK: func.func @f\n// WRONG: func.func @g\n"


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        ("ipu-opt %s | filecheck %s", True),
        ("ipu-opt %s | filecheck %s --check-prefix=WRONG", False),
        ("ipu-opt %s | not filecheck %s --check-prefix=WRONG", True),
        ("not ipu-opt %s", False),
        ("ipu-opt %s.absent", False),
        ("not ipu-opt %s.absent", True),
        ("ipu-opt %s.absent | cat", False),
        ("ipu-opt %s -o %t && filecheck %s < %t", True),
        ("ipu-opt %s > %t; filecheck %s --input-file %t", True),
        ("ipu-opt < %s | filecheck %s", True),
        ("not ipu-opt %s.absent 2>&1 | grep 'cannot read'", True),
        ("not ipu-opt %s.absent 2>&1 >%t | grep 'cannot read'", True),
        ("not ipu-opt %s.absent 2>%t && grep 'cannot read' %t", True),
        ("false || true", True),
        ("echo 100%% | grep '100%%'", True),
    ],
)
def test_status_of_a_line(runner: ModuleType, tmp_path: Path, line: str, passes: bool) -> None:
    path = tmp_path / "t.mlir"
    path.write_text(TEST)
    assert (runner.run_command(line, path, tmp_path).status == 0) == passes


def test_run_lines_are_found_and_joined(runner: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "t.mlir"
    path.write_text("// RUN: ipu-opt %s \\\n// RUN:   | filecheck %s\nmodule {}\n// RUN: true\n")
    assert [" ".join(line.split()) for line in runner.run_lines(path)] == ["ipu-opt %s | filecheck %s", "true"]
