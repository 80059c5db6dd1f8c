"""What FileCheck cannot see of ipu-opt: exit status, what is imported, stdout against stderr."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ipu_mlir.tools import ipu_opt

GOOD = "func.func @f() {\n  return\n}\n"
BAD = "func.func @f() -> i32 {\n  return\n}\n"


@pytest.mark.parametrize(
    ("text", "arguments", "status"),
    [
        (GOOD, [], 0),
        (GOOD, ["--cse"], 0),
        (BAD, [], 1),
        (BAD + "// -----\n" + BAD, ["--split-input-file"], 1),
        (GOOD, ["--no-such-pass"], 2),
        (GOOD, ["--pass-pipeline=cse("], 2),
        (GOOD, ["--load-pass=absent.py"], 1),
        (GOOD + "// -----\n" + GOOD, ["--split-input-file", "--emit-bytecode"], 2),
    ],
)
def test_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, arguments: list[str], status: int
) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(text)
    assert ipu_opt.main([str(path), *arguments]) == status
    said = capsys.readouterr()
    assert bool(said.err) == bool(status) and bool(said.out) == (not status)


def test_a_process_that_dies_leaves_a_reproducer(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(GOOD)
    (tmp_path / "dies.py").write_text(
        "import os\nfrom ipu_mlir.passes.core.base import Pass\n\n\nclass Dies(Pass):\n"
        '    """End the process."""\n\n    name = "test-dies"\n\n'
        "    def run(self, module):\n        os.abort()\n"
    )
    tool = Path(sys.executable).parent / "ipu-opt"
    own = [tool, "--load-pass", "dies.py"]
    keep = "--mlir-pass-pipeline-crash-reproducer=again.mlir"
    first = subprocess.run([*own, "in.mlir", "--cse", "--test-dies", keep], cwd=tmp_path, stderr=subprocess.DEVNULL)
    again = subprocess.run([*own, "--run-reproducer", "again.mlir"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    assert first.returncode == again.returncode == -signal.SIGABRT


def test_missing_file_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert ipu_opt.main(["no-such-file.mlir"]) == 1
    assert capsys.readouterr().err == "no-such-file.mlir: error: cannot read the file: No such file or directory\n"


@pytest.mark.parametrize("tool", ["ipu_opt", "ipu_run", "ipu_translate"])
def test_help_imports_neither_mlir_nor_numpy(tool: str) -> None:
    code = (
        f"import sys\nfrom ipu_mlir.tools import {tool}\n"
        f"try:\n    {tool}.main(['--help'])\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(sorted({'torch_mlir', 'numpy', 'ipu_mlir.passes', 'ipu_mlir.runtime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_imports_little_of_python() -> None:
    code = "import sys\nfrom ipu_mlir.tools import ipu_opt\nipu_opt.main(['--help'])\n"
    code += "print({'shutil'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_the_command_is_installed() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "ipu-opt"], input=GOOD, capture_output=True, text=True, check=True
    )
    assert "func.func @f()" in done.stdout and done.stderr == ""
