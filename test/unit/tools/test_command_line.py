"""What all tools share: exit status and output files."""

import os
from pathlib import Path

import pytest

from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic
from ipu_mlir.dialects.support.errors import CompileError, IpuError, Settings
from ipu_mlir.tools.command_line import Parser, UsageError, run_tool, write_output
from ipu_mlir.tools.machine_flags import FLAGS


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


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IpuError, match=r"cannot write .*: No such file or directory"):
        write_output(str(tmp_path / "absent" / "out.txt"), "text")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link, dangling = tmp_path / "there" / "target.txt", tmp_path / "link.txt", tmp_path / "dangling.txt"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to("there/target.txt")
    dangling.symlink_to("there/new.txt")
    for path in (link, dangling):
        write_output(str(path), "new")
        assert path.is_symlink() and path.resolve().read_text() == "new"
    assert sorted(os.listdir(tmp_path / "there")) == ["new.txt", "target.txt"]


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o755])
def test_a_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(mode)
    write_output(str(path), "new")
    assert path.stat().st_mode & 0o777 == mode and path.read_text() == "new"


def test_a_new_file_has_the_mode_that_the_user_likes(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_output(str(tmp_path / "out.txt"), "new")
    finally:
        os.umask(before)
    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o640


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    with pytest.raises(IpuError, match="No space left on device"):
        write_output(str(path), "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["out.txt"]


def test_settings_are_flags_in_a_tool_and_arguments_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    more, share = Settings(tiles_per_ipu=1472, ipus=8510), Settings(available_memory_proportion=None)
    error = CompileError(f"try more tiles ({more}), or less for operands ({share})", settings=(more, share))
    assert str(error) == (
        "try more tiles (tiles_per_ipu=1472, ipus=8510), or less for operands (available_memory_proportion)"
    )

    def tool(argv: object) -> int:
        raise error

    run_tool("tool", tool, [], FLAGS)
    assert capsys.readouterr().err == (
        "tool: error: try more tiles (--tiles 1472 --ipus 8510), or less for operands (--available-memory-proportion)\n"
    )


@pytest.mark.parametrize("many", [0, 3])
def test_no_memory_is_an_error_of_one_line(many: int, capsys: pytest.CaptureFixture[str]) -> None:
    def tool(argv: object) -> int:
        raise MemoryError(*["Unable to allocate 8 TiB"][:many])

    assert run_tool("tool", tool, []) == 1
    assert capsys.readouterr().err.startswith("tool: error: this machine has not enough memory: ")


def test_a_device_is_written_directly() -> None:
    write_output("/dev/null", "text")
    assert not Path("/dev/null").is_file()
