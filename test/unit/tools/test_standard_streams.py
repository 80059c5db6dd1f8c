"""Standard streams that are closed, full, broken or of few characters: one line or silence, and the right status."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
PROGRAM = """
func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %y = math.exp %x : tensor<4096xf32>
  return %y : tensor<4096xf32>
}
"""


@pytest.fixture
def shell(tmp_path: Path):
    """Runs a line of the shell beside ``in.mlir``: the exit status of it, stdout, the lines on stderr."""
    (tmp_path / "in.mlir").write_text(PROGRAM)

    def run(line: str, **environment: str) -> tuple[int, str, list[str]]:
        path = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env={**os.environ, **path, **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr.splitlines()

    return run


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ipu-run in.mlir >&-", "ipu-run: error: cannot write to stdout: Bad file descriptor"),
        ("ipu-opt in.mlir >&-", "ipu-opt: error: cannot write to stdout: Bad file descriptor"),
        ("ipu-run in.mlir > /dev/full", "ipu-run: error: cannot write to stdout: No space left on device"),
        ("ipu-opt in.mlir > /dev/full", "ipu-opt: error: cannot write to stdout: No space left on device"),
        ("ipu-sweep in.mlir > /dev/full", "ipu-sweep: error: cannot write to stdout: No space left on device"),
        ("ipu-opt --help > /dev/full", "ipu-opt: error: cannot write to stdout: No space left on device"),
        ("ipu-opt <&-", "ipu-opt: error: cannot read stdin: Bad file descriptor"),
        ("ipu-translate --to-numpy --compile <&-", "ipu-translate: error: cannot read stdin: Bad file descriptor"),
        ("ipu-report - <&-", "ipu-report: error: cannot read stdin: Bad file descriptor"),
    ],
)
def test_a_stream_that_cannot_be_used_is_one_line(shell, line: str, said: str) -> None:
    assert shell(line) == (1, "", [said])


def test_what_needs_no_stdin_works_without(shell) -> None:
    status, out, said = shell("ipu-run in.mlir <&-")
    assert (status, said) == (0, []) and out.startswith("out0: float32[4096]")


def test_a_closed_stderr_does_not_get_into_files(shell, tmp_path: Path) -> None:
    assert shell("ipu-opt nothing.mlir -o out.mlir 2>&-") == (1, "", [])
    assert shell("ipu-opt in.mlir --mlir-timing -o out.mlir 2>&-") == (0, "", [])
    assert (tmp_path / "out.mlir").read_text().startswith("module {")


@pytest.mark.parametrize("line", ["ipu-opt in.mlir", "ipu-run in.mlir", "ipu-opt --help"])
def test_a_reader_who_has_seen_enough_gets_silence(shell, line: str) -> None:
    _, _, said = shell(f"(sleep 0.1; {line}) | true")
    assert said == []


def test_characters_that_the_terminal_lacks_are_escaped(shell) -> None:
    status, out, said = shell("ipu-sweep in.mlir --tiles 4", PYTHONIOENCODING="ascii")
    assert (status, said) == (0, []) and "\\xb5s" in out
