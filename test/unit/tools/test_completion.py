"""Completion scripts, as the shells understand them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent


def script(tool: str, shell: str) -> str:
    return subprocess.run([BIN / tool, "--completion", shell], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("tool", "typed", "offered"),
    [
        ("ipu-opt", "--canon", ["--canonicalize"]),
        ("ipu-opt", "--ipu-comp", ["--ipu-compile"]),
        ("ipu-opt", "--mlir-tim", ["--mlir-timing"]),
        ("ipu-run", "--print-v", ["--print-values"]),
        ("ipu-sweep", "--ip", ["--ipus"]),
    ],
)
def test_bash_completes_options(tmp_path: Path, tool: str, typed: str, offered: list[str]) -> None:
    function = tool.replace("-", "_")
    ask = f'COMP_WORDS=({tool} {typed}); COMP_CWORD=1; _{function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{script(tool, 'bash')}\n{ask}"], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (offered, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_takes_the_script(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    path = tmp_path / "script"
    path.write_text(script("ipu-opt", shell))
    subprocess.run([shell, "-n", path], check=True, timeout=20)
