"""Programs that cannot be read, or that end the process of whoever parses them, are refused in one line."""

import io

import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, source_place
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.dialects.support.readable import DEEPEST, refuse_unreadable

pytestmark = pytest.mark.deadly

_MAIN = """func.func @main(%x: tensor<2x3xf32>, %e: tensor<3x2xf32>) -> tensor<3x2xf32> {{
  {}
  return %e : tensor<3x2xf32>
}}"""
_NOT_UTF8 = {
    "place": _MAIN.format('%c = arith.constant 1 : i32 loc("\\FF\\FE":1:2)'),
    "name": _MAIN.format('%c = arith.constant 1 : i32 loc("\\c3")'),
    "fused": _MAIN.format('%c = arith.constant 1 : i32 loc(fused<"\\FF">["a", "b"])'),
    "call": _MAIN.format('%c = arith.constant 1 : i32 loc(callsite("\\FF" at "b"))'),
    "attribute": _MAIN.format('%c = arith.constant {ipu.x = ["\\80"]} 1 : i32'),
    "message": _MAIN.format('%c = arith.constant true\n  cf.assert %c, "\\FF"'),
    "symbol": 'func.func @"\\FF"() {\n  return\n}',
    "two symbols": 'func.func @"\\FF"() {\n  return\n}\nfunc.func @"\\FF"() {\n  return\n}',
    "after escapes": 'func.func @"\\\\\\22\\n\\FF"() {\n  return\n}',
    "half a character": 'func.func @"\\C3\\22"() {\n  return\n}',
    "a surrogate": 'func.func @"\\ED\\A0\\80"() {\n  return\n}',
}


@pytest.mark.parametrize("text", _NOT_UTF8.values(), ids=_NOT_UTF8)
def test_strings_that_are_no_text_are_refused_at_their_place(text: str) -> None:
    with pytest.raises(DiagnosedError, match=r"^a\.mlir:\d+:\d+: error: a string with the byte \w\w is not UTF-8"):
        parse_module(text, dialect.context(), "a.mlir")
    with pytest.raises(ipu.CompileError, match="is not UTF-8"):
        ipu.compile(text)


@pytest.mark.parametrize(
    "text",
    [
        'func.func @"\\C3\\A9é"() {\n  return\n}',
        'func.func @"\\\\FF"() {\n  return\n}',
        '// "\\FF\nfunc.func @f() {\n  return\n}',
        'func.func @"// \\\\FF"() {\n  return\n}',
    ],
)
def test_strings_that_are_text_are_taken(text: str) -> None:
    parse_module(text, dialect.context())


def _unread(text: str) -> ir.Module:
    """The module of ``text``, parsed without any check."""
    with dialect.context():
        return ir.Module.parse(text)


def _bytecode(module: ir.Module) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("text", [text for what, text in _NOT_UTF8.items() if what != "two symbols"])
def test_modules_and_bytecode_with_such_strings_are_refused(text: str) -> None:
    module = _unread(text)
    with pytest.raises(DiagnosedError, match="is not UTF-8"):
        ipu.compile(module)
    with pytest.raises(DiagnosedError, match=r"^a\.bc: error: .*is not UTF-8"):
        parse_module(_bytecode(module), dialect.context(), "a.bc")


def test_half_of_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(DiagnosedError, match="1:3: error: half of a surrogate pair"):
        parse_module("//\udcff\nmodule {}", dialect.context())


_TRANSPOSE = "%t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [?, 0]"
_DEADLY = {
    "a dimension that is no number": _MAIN.format(_TRANSPOSE),
    "signs": f"#m = affine_map<(i) -> ({'-' * 200_000}i)>\nmodule {{}}",
    "names": "#a0 = []\n"
    + "".join(f"#a{i} = [#a{i - 1}]\n" for i in range(1, 60_000))
    + "module attributes {ipu.a = #a59999} {}",
}


@pytest.mark.parametrize("text", _DEADLY.values(), ids=_DEADLY)
def test_text_that_ends_the_process_is_refused(text: str, capfd) -> None:
    for _ in range(2):
        with pytest.raises(DiagnosedError, match=r"^a\.mlir: error: MLIR cannot parse this text: .*\(SIG\w+\)"):
            parse_module(text, dialect.context(), "a.mlir")
    assert capfd.readouterr() == ("", "")


_BRACKETS = {"[": "module attributes {{ipu.a = {}{}}} {{}}", "(": "#m = affine_map<(i) -> ({}i{})>\nmodule {{}}"}
_BRACKETS |= {
    "tuple<": "module attributes {{ipu.a = {}{}}} {{}}",
    "scf.if %c {": "func.func @f(%c: i1) {{ {}{} return }}",
}


@pytest.mark.parametrize("opening", _BRACKETS)
def test_nesting_has_a_limit(opening: str) -> None:
    closing = {"[": "]", "(": ")", "<": ">", "{": "}"}[opening[-1]]
    levels = DEEPEST - 10
    parse_module(_BRACKETS[opening].format(opening * levels, closing * levels), dialect.context())
    for levels in (DEEPEST + 1, 20 * DEEPEST):
        with pytest.raises(DiagnosedError, match=r"a\.mlir:1:\d+: error: nested more than 1,000 levels deep"):
            parse_module(_BRACKETS[opening].format(opening * levels, closing * levels), dialect.context(), "a.mlir")


def test_what_looks_like_nesting_is_none() -> None:
    many = DEEPEST * 2
    refuse_unreadable('"' + "[" * many + '"', "")
    refuse_unreadable("// " + "{" * many, "")
    refuse_unreadable("{ -> } >= <=" * many, "")
    refuse_unreadable("<->>" * many, "")
    refuse_unreadable("é(字)" * many, "")
    with pytest.raises(DiagnosedError, match="nested more"):
        refuse_unreadable("(->" * many, "")


@pytest.mark.parametrize("text", ["module {}", "func.func @f() { return }\nfunc.func @g() { return }"])
def test_the_name_of_a_file_is_text_as_well(text: str) -> None:
    module = parse_module(text, dialect.context(), 'a\n\udcff\x1b[31m"\\é.mlir')
    (operation, *_) = module.body.operations if "func" in text else [module.operation]
    assert source_place(operation.location)[0] == r'a\n\udcff\x1b[31m"\é.mlir'


def test_a_folder_with_a_line_break_in_its_name(tmp_path) -> None:
    folder = tmp_path / "a\nimport os"
    folder.mkdir()
    (folder / "p\n.mlir").write_text(_MAIN.format(""))
    executable = ipu.compile(folder / "p\n.mlir", target=ipu.Target(tiles_per_ipu=2))
    executable.run([[[0.0] * 3] * 2, [[0.0] * 2] * 3])


@pytest.mark.parametrize("element", ["ui8", "si64", "i24", "i128", "f16", "bf16", "f8E4M3FN", "!small"])
@pytest.mark.parametrize("form", ["array<{}: 1>", "[array <{}:1>]", "{{of = @main, by = array< {} : 1>}}", "array<{}>"])
def test_arrays_whose_elements_python_does_not_see_are_refused(element: str, form: str) -> None:
    text = f"!small = i24\nfunc.func private @main() attributes {{ipu.gradient = {form.format(element)}}}"
    with pytest.raises(DiagnosedError, match=rf"^a\.mlir:2:\d+: error: an array attribute has elements of {element}, "):
        parse_module(text, dialect.context(), "a.mlir")


def test_arrays_of_other_kinds_are_read() -> None:
    text = """// array<ui8: 1>
func.func private @main() attributes {a = "array<ui8: 1>", b = array<i64: 1>, c = array<i1: true>, d = array<f32>}"""
    assert "array<f32>" in str(parse_module(text, dialect.context()))
