"""Text, files and bytecode -> modules: locations, errors, splitting."""

import io
from pathlib import Path

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, source_place
from ipu_mlir.dialects.support.parsing import Source, parse_module, read_source, source_of_bytes, split_input

FUNCTION = "func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}\n"


def places(module: object) -> list[tuple[str, int, int]]:
    """File, line and column of each op directly in the module."""
    return [source_place(op.location) for op in module.body]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FUNCTION, [("x.mlir", 1, 1)]),
        ("// a comment\n" + FUNCTION + FUNCTION.replace("@f", "@g"), [("x.mlir", 2, 1), ("x.mlir", 5, 1)]),
        ("module {\n" + FUNCTION + "}", [("x.mlir", 2, 1)]),
        ("module @named attributes {a.b = 1} {}", []),
        ("", []),
        ("// nothing\n", []),
    ],
)
def test_ops_know_file_and_line(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert places(parse_module(text, ipu.context(), "x.mlir")) == expected


def test_module_keeps_its_name_and_attributes() -> None:
    module = parse_module("module @named attributes {a.b = 1} {}", ipu.context(), "x.mlir")
    assert str(module) == "module @named attributes {a.b = 1 : i64} {\n}\n"
    assert source_place(module.operation.location) == ("x.mlir", 1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @f() {\n  nothing\n}\n",
            "x.mlir:2:3: error: custom op 'nothing' is unknown (tried 'func.nothing' as",
        ),
        (
            'func.func @f() {\n  "a.b"() : () -> ()\n}',
            "x.mlir:2:8: error: operation being parsed with an unregistered",
        ),
        ("func.func @f() -> i32 {\n  return\n}", "x.mlir:2:3: error: 'func.return' op has 0 operands, but"),
        (FUNCTION + FUNCTION, "x.mlir:4:1: error: redefinition of symbol named 'f'"),
        (
            "func.func @f() {\n  return\n",
            "x.mlir:2:9: error: expected operation name in quotes (the input ends here; is",
        ),
        ("func.func @f(%a: i32", "x.mlir:1:20: error: expected ')' (the input ends here; is it cut off?)"),
        ("module {", "x.mlir:1:7: error: expected operation name in quotes (the input ends here; is it cut off?)"),
        ("@", "x.mlir:1:2: error: @ identifier expected"),
        (b"\xff\xfe", "x.mlir: error: neither MLIR text nor bytecode: byte 0 is not UTF-8"),
        (b"ML\xefR\x01", "x.mlir: error: "),
    ],
)
def test_errors_name_the_place(text: str | bytes, message: str) -> None:
    with pytest.raises(DiagnosedError) as caught:
        parse_module(text, ipu.context(), "x.mlir")
    (line,) = str(caught.value).splitlines()
    assert line.startswith(message)


def test_missing_file() -> None:
    with pytest.raises(
        DiagnosedError, match=r"^no/such\.mlir: error: cannot read the file: No such file or directory$"
    ):
        parse_module("no/such.mlir", ipu.context())


def test_text_and_bytecode_files_parse(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(FUNCTION)
    module = parse_module(str(path), ipu.context())
    assert places(module) == [(str(path), 1, 1)]
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    (tmp_path / "f.mlirbc").write_bytes(buffer.getvalue())
    again = parse_module(tmp_path / "f.mlirbc", ipu.context())
    assert places(again) == [(str(path), 1, 1)] and str(again) == str(module)
    with pytest.raises(DiagnosedError, match=r"^cut\.mlirbc: error: "):
        parse_module(buffer.getvalue()[:100], ipu.context(), "cut.mlirbc")


def test_source_of_bytes_tells_text_from_bytecode() -> None:
    assert source_of_bytes(b"module {}", "a").content == "module {}"
    assert source_of_bytes(b"ML\xefR...", "a").content == b"ML\xefR..."


def test_split_parts_count_lines_from_the_start_of_the_file() -> None:
    first, second, third = split_input(Source(FUNCTION + "// -----\n" + FUNCTION + "// -----  \n\nnothing\n", "x.mlir"))
    assert (first.line_offset, second.line_offset, third.line_offset) == (0, 4, 8)
    assert places(parse_module(second, ipu.context())) == [("x.mlir", 5, 1)]
    with pytest.raises(DiagnosedError, match=r"^x\.mlir:10:1: error: "):
        parse_module(third, ipu.context())


def test_only_whole_lines_split() -> None:
    text = "// -----// IR Dump After cse //----- //\n  // -----\n"
    assert [part.content for part in split_input(Source(text, "x"))] == [text]


def test_read_source_gives_the_name(tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_text("module {}")
    assert read_source(tmp_path / "a.mlir") == Source("module {}", str(tmp_path / "a.mlir"))
