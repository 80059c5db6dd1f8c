"""Errors with the line that they speak of: on a terminal in colour, elsewhere plain."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from ipu_mlir.dialects.support.diagnostics import Diagnostic
from ipu_mlir.tools.diagnostics_output import diagnostic_lines
from ipu_mlir.tools.program_files import read_program

WRONG = 'func.func @f(%x: f32) -> f32 {\n  %y = "arith.addf"(%x) : (f32) -> f32\n  return %y : f32\n}\n'
RED, BOLD, GREEN, PLAIN = "\x1b[1;31m", "\x1b[1m", "\x1b[1;32m", "\x1b[0m"


def quoted(path: Path, text: str, line: int, column: int) -> list[str]:
    """What stands below the message."""
    path.write_text(text)
    name = read_program(str(path)).name
    return list(diagnostic_lines(Diagnostic("wrong", name, line, column)))[1:]


@pytest.mark.parametrize(
    ("text", "line", "column", "shown"),
    [
        ("a b c\n", 1, 3, ["a b c", "  ^"]),
        ("\ta\tb\n", 1, 4, ["\ta\tb", "\t \t^"]),
        ("a\r\nb\r\n", 2, 1, ["b", "^"]),
        ("µµ x\n", 1, 6, ["µµ x", "   ^"]),  # MLIR counts bytes
        ("a", 1, 2, ["a", " ^"]),
        ("a\n", 7, 1, []),
        ("\n \n", 1, 1, []),
        ("\x1b[31mred\x07\n", 1, 6, ["?[31mred?", "     ^"]),
    ],
)
def test_the_line_and_a_caret(tmp_path: Path, text: str, line: int, column: int, shown: list[str]) -> None:
    assert quoted(tmp_path / "in.mlir", text, line, column) == shown


def test_of_a_long_line_a_piece_is_shown(tmp_path: Path) -> None:
    line, caret = quoted(tmp_path / "in.mlir", "a" * 5000 + "X" + "b" * 5000, 1, 5001)
    assert len(line) == 200 and line[caret.index("^")] == "X"


def test_other_files_that_a_program_names_stay_closed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the password\n")
    quoted(tmp_path / "in.mlir", "a\n", 1, 1)
    assert list(diagnostic_lines(Diagnostic("wrong", str(secret), 1, 1))) == [f"{secret}:1:1: error: wrong"]


def test_notes_follow_their_error() -> None:
    note = Diagnostic("because", "a.mlir", 2, 1, severity="note")
    lines = list(diagnostic_lines(Diagnostic("wrong", "a.mlir", 1, 1, notes=(note,))))
    assert lines == ["a.mlir:1:1: error: wrong", "a.mlir:2:1: note: because"]


def said_on_a_terminal(arguments: list[str], **environment: str) -> list[str]:
    """The lines that a tool shows on a terminal as its stderr."""
    ours, theirs = pty.openpty()
    tool = Path(sys.executable).parent / arguments[0]
    process = subprocess.Popen(
        [tool, *arguments[1:]], stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, **environment}
    )
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 4096):
            text += piece
    except OSError:  # Linux says so at the end
        pass
    os.close(ours)
    assert process.wait(60) == 1
    return text.decode().splitlines()


@pytest.mark.parametrize("tool", ["ipu-opt", "ipu-run", "ipu-translate", "ipu-sweep"])
def test_a_terminal_shows_colours(tmp_path: Path, tool: str) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(WRONG)
    more = ["--to-numpy", "--compile"] if tool == "ipu-translate" else []
    lines = said_on_a_terminal([tool, str(path), *more], TERM="xterm", NO_COLOR="")
    message = "'arith.addf' op expected 2 operands, but found 1"
    assert lines[:3] == [
        f"{BOLD}{path}:2:8: {PLAIN}{RED}error: {PLAIN}{BOLD}{message}{PLAIN}",
        '  %y = "arith.addf"(%x) : (f32) -> f32',
        f"       {GREEN}^{PLAIN}",
    ]
    assert "note: " in lines[3] and 'see current operation: %0 = "arith.addf"' in lines[3]


@pytest.mark.parametrize("environment", [{"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb", "NO_COLOR": ""}])
def test_a_terminal_without_colours_shows_none(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(WRONG)
    lines = said_on_a_terminal(["ipu-opt", str(path)], **environment)
    assert lines[0].startswith(f"{path}:2:8: error: ") and lines[2] == "       ^"
    assert not any("\x1b" in line for line in lines)
