"""What all tools share: exit status and output files."""

import os
from pathlib import Path

import pytest

from ipu_mlir.dialects.diagnostics import DiagnosedError, Diagnostic
from ipu_mlir.dialects.errors import CompileError
from ipu_mlir.tools.command_line import Parser, UsageError, run_tool, write_output


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (UsageError("no such option"), 2, "tool: error: no such option; see tool --help\n"),
        (CompileError("does not fit"), 1, "tool: error: does not fit\n"),
        (
            DiagnosedError([Diagnostic("one", "a.mlir", 1, 2), Diagnostic("two", "a.mlir", 3, 4)]),
            1,
            "a.mlir:1:2: error: one\na.mlir:3:4: error: two\n",
        ),
    ],
)
def test_errors_become_lines_and_a_status(
    error: Exception, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def tool(argv: object) -> int:
        raise error

    assert run_tool("tool", tool, []) == status
    assert capsys.readouterr().err == said


def test_a_bug_shows_its_traceback() -> None:
    def tool(argv: object) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_tool("tool", tool, [])


def test_wrong_options_are_wrong_usage() -> None:
    parser = Parser("tool", "Does something.")
    parser.add_argument("--number", type=int)
    for arguments in (["--number=x"], ["--num=1"], ["extra"]):
        with pytest.raises(UsageError):
            parser.parse_args(arguments)


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    write_output(str(path), "text")
    write_output(str(path), b"bytes")
    assert path.read_bytes() == b"bytes"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_file_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*: No such file or directory"):
        write_output(str(tmp_path / "absent" / "out.txt"), "text")


def test_a_device_is_written_directly() -> None:
    write_output("/dev/null", "text")
    assert not Path("/dev/null").is_file()
