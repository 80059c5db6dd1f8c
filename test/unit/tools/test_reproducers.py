"""Pipelines that come from a file, in a folder of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "filecheck" / "tools" / "opt" / "ipu-opt-reproducer-outside.mlir"


@pytest.mark.parametrize("trust", [False, True])
def test_a_file_writes_only_if_it_is_trusted(tmp_path: Path, trust: bool) -> None:
    main = "import sys; from ipu_mlir.tools.ipu_opt import main; sys.exit(main())"
    command = [sys.executable, "-c", main, "--run-reproducer", str(PROGRAM)]
    ran = subprocess.run([*command, *["--trust-reproducer"] * trust], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode == 0) == trust, ran.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["written"] * trust  # what names ask for is not run
    if trust:
        assert 'module @"$(echo > run)"' in (tmp_path / "written").read_text()
