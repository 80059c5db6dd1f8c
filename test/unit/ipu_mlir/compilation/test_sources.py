"""Programs come as a path, text, bytecode or a module; what cannot be one is an error with its place."""

import io

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.compilation.sources import load_module
from ipu_mlir.dialects.support.bindings import ir

TEXT = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = arith.addf %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""
X = np.arange(6, dtype=np.float32).reshape(2, 3)
SMALL = ipu.Target(tiles_per_ipu=3)


def bytecode(text):
    with ir.Context(), ir.Location.unknown():
        buffer = io.BytesIO()
        ir.Module.parse(text).operation.write_bytecode(buffer)
    return buffer.getvalue()


def test_every_kind_of_source_gives_the_same_program(tmp_path):
    text, binary, odd = tmp_path / "a.mlir", tmp_path / "a.mlirbc", tmp_path / "a.txt"
    text.write_text(TEXT)
    odd.write_text(TEXT)
    binary.write_bytes(bytecode(TEXT))
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(TEXT)
    for source in (TEXT, text, str(text), binary, str(odd), bytecode(TEXT), module):
        (result,) = ipu.compile(source, target=SMALL).run([X])
        np.testing.assert_array_equal(result, X + X)


@pytest.mark.parametrize("dialect_loaded", [True, False])
def test_a_module_stays_as_it_is(dialect_loaded):
    from ipu_mlir.dialects import ipu as dialect

    with dialect.context() if dialect_loaded else ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(TEXT)
    before = str(module)
    ipu.compile(module, target=SMALL)
    assert str(module) == before
    assert module.context.is_dialect_loaded("ipu") == dialect_loaded


def test_a_module_may_keep_its_weights_as_resources():
    text = TEXT.replace(
        "%0 = arith.addf %x, %x", "%w = arith.constant dense_resource<w> : tensor<2x3xf32>\n  %0 = arith.addf %x, %w"
    )
    data = "0x04000000" + X.tobytes().hex()
    text += f'{{-# dialect_resources: {{builtin: {{w: "{data}"}}}} #-}}'
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
    for source in (text, module):
        np.testing.assert_array_equal(ipu.compile(source, target=SMALL).run([X])[0], X + X)


BAD = [
    ("missing.mlir", "missing.mlir: error: cannot read the file: No such file"),
    ("func.func @main( {\n}", "<text>:1:17: error: expected non-function type"),
    (TEXT.replace("addf %x, %x :", "addf %x, %y :"), "<text>:3:23: error: use of undeclared SSA value name"),
    (TEXT.replace("arith.addf", "onnx.Add"), "<text>:3:8: error: Dialect `onnx'.*compile the ONNX model itself"),
    (TEXT.encode() + b"\xff", "neither MLIR text nor bytecode"),
    (
        3,
        "cannot compile 3, which is of type int; expected a path, MLIR text, an ir.Module or a Python function",
    ),
]


@pytest.mark.parametrize(("source", "message"), BAD, ids=["missing", "cut", "undeclared", "dialect", "utf8", "kind"])
def test_a_bad_source_is_an_error_with_its_place(source, message):
    with pytest.raises(ipu.CompileError, match=message):
        load_module(source)


def test_a_path_names_its_file_in_errors_and_locations(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    assert f'"{path}":3:8' in load_module(path).operation.get_asm(enable_debug_info=True)
    path.write_text(TEXT.replace("%x, %x", "%x, %y"))
    with pytest.raises(ipu.CompileError, match=rf"{path}:3:23: error"):
        load_module(path)
