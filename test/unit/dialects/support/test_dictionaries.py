"""Dictionaries of attributes, also with what the bindings have no class for."""

from pathlib import Path

import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.dictionaries import entries_of
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.tools import ipu_opt

pytestmark = pytest.mark.deadly

UNSEEN = "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>"


def dictionary(text: str) -> ir.DictAttr:
    module = parse_module(f"func.func private @f() attributes {{d = {text}}}", dialect.context())
    return module.body.operations[0].operation.attributes["d"]


def test_entries_by_their_names() -> None:
    found = entries_of(dictionary('{a = 1 : i32, b = "x"}'))
    assert {name: str(each) for name, each in found.items()} == {"a": "1 : i32", "b": '"x"'}


def test_what_python_does_not_see_is_an_error() -> None:
    with pytest.raises(ipu.CompileError, match="entry 'b' Python does not see"):
        entries_of(dictionary(f"{{a = 1 : i32, b = {UNSEEN}}}"))


def test_a_tool_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "program.mlir"
    gradient = f"attributes {{ipu.gradient = {{of = @f, by = {UNSEEN}}}}}"
    file.write_text(f"func.func private @g(tensor<f32>) -> tensor<f32> {gradient}")
    assert ipu_opt.main([str(file), "--ipu-autodiff"]) == 1
    assert "entry 'by' Python does not see" in capsys.readouterr().err
