"""Ctrl-C ends a tool at once, in silence, and leaves no half of a file."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

_CHAIN = "\n".join(
    [
        "func.func @main(%v0: tensor<64xf32>) -> tensor<64xf32> {",
        *(f"%v{step + 1} = math.tanh %v{step} : tensor<64xf32>" for step in range(30_000)),
        "return %v30000 : tensor<64xf32>",
        "}",
    ]
)
"""A program that takes far longer to compile than a user waits."""


def _interrupted(command: Sequence[str | Path]) -> tuple[int, str, float]:
    """Exit status, stderr, and for how long ``command`` went on after Ctrl-C that came while MLIR was at work."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    with process:
        while process.poll() is None and "torch_mlir" not in Path(f"/proc/{process.pid}/maps").read_text():
            time.sleep(0.02)
        time.sleep(0.3)
        assert process.poll() is None, "it was done before the signal came"
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        return process.returncode, said, time.monotonic() - sent


@pytest.mark.parametrize("tool", ["ipu-opt", "ipu-run", "ipu-translate", "ipu-sweep"])
def test_a_tool_ends_at_once(tmp_path: Path, tool: str) -> None:
    program, output = tmp_path / "chain.mlir", tmp_path / "out.csv"
    program.write_text(_CHAIN)
    flags = {
        "ipu-opt": ["--ipu-compile", "-o", output],
        "ipu-run": ["--outputs", output],
        "ipu-translate": ["--to-numpy", "--compile", "-o", output],
        "ipu-sweep": ["--tiles=4", "-o", output],
    }
    status, said, went_on = _interrupted([Path(sys.executable).parent / tool, program, *flags[tool]])
    assert (status, said) == (-signal.SIGINT, "")
    assert went_on < 2
    assert os.listdir(tmp_path) == ["chain.mlir"]


def test_a_file_is_written_to_its_end(tmp_path: Path) -> None:
    """The signal comes while the file is being written."""
    code = (
        "import os, signal, sys\nfrom ipu_mlir.tools import command_line\n"
        "replace = os.replace\n"
        "def slow(unfinished, path):\n    os.kill(os.getpid(), signal.SIGINT)\n    replace(unfinished, path)\n"
        "os.replace = slow\n"
        "def tool(argv):\n    command_line.write_output('out', 'abcdef')\n    print('too late')\n"
        "command_line.run_tool('tool', tool, None)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
    assert os.listdir(tmp_path) == ["out"] and (tmp_path / "out").read_text() == "abcdef"


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    code = (
        "import os, signal\nfrom ipu_mlir.tools import command_line\n"
        "command_line.run_tool('tool', lambda argv: os.kill(os.getpid(), signal.SIGINT) or print('done') or 0, None)"
    )
    script = f"trap '' INT; exec '{sys.executable}' -c \"$0\""
    done = subprocess.run(["bash", "-c", script, code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n")
