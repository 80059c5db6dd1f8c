"""The command line of ipu-opt."""

import pytest

from ipu_mlir.tools.command_line import UsageError
from ipu_mlir.tools.opt_arguments import parse_arguments


@pytest.mark.parametrize(
    ("line", "file", "flags"),
    [
        ("", "-", []),
        ("-", "-", []),
        ("a.mlir", "a.mlir", []),
        ("a.mlir --cse --canonicalize", "a.mlir", [("cse", ""), ("canonicalize", "")]),
        ("--cse a.mlir --canonicalize", "a.mlir", [("cse", ""), ("canonicalize", "")]),
        ("--canonicalize --cse - --canonicalize", "-", [("canonicalize", ""), ("cse", ""), ("canonicalize", "")]),
        ("-cse a.mlir", "a.mlir", [("cse", "")]),
        ("--p=grain=2 --q={a=1} --mlir-timing", "-", [("p", "grain=2"), ("q", "a=1")]),
        ("-o out --cse --verify-each=0", "-", [("cse", "")]),
        ("-split-input-file --cse", "-", [("cse", "")]),
    ],
)
def test_files_and_passes_in_any_order(line: str, file: str, flags: list[tuple[str, str]]) -> None:
    arguments = parse_arguments(line.split())
    assert (arguments.file, arguments.flags) == (file, flags)


def test_options_with_spaces_stay_together() -> None:
    assert parse_arguments(["--ipu-partition=grain=2 planner=x"]).flags == [("ipu-partition", "grain=2 planner=x")]


def test_values_of_options() -> None:
    arguments = parse_arguments(["--mlir-print-ir-after=a, b", "--load-pass", "x.py", "--load=y.py", "-o", "z"])
    assert arguments.mlir_print_ir_after == ("a", "b")
    assert arguments.load == ["x.py", "y.py"]
    assert arguments.output == "z" and arguments.verify_each is True


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.mlir b.mlir", "expected one file, got a.mlir, b.mlir"),
        ("--cse --pass-pipeline=cse", "--pass-pipeline and --cse exclude each other"),
        ("--verify-each=maybe", "expected 0 or 1, got 'maybe'"),
        ("--=3", "expected an option or a pass, got '--=3'"),
        ("-o", "expected one argument"),
    ],
)
def test_wrong_usage(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_arguments(line.split())
