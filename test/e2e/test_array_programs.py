"""Every pass on array programs leaves a legal program, whose text says all of it."""

import re

import numpy as np
import pytest
from support.corpus import FOLDER

import ipu_mlir as ipu
from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.array_ir.parsing import parse_program
from ipu_mlir.runtime.translator.array_ir.printing import program_text
from ipu_mlir.runtime.translator.array_ir.statements import Program
from ipu_mlir.runtime.translator.array_ir.tokens import ArrayTextError
from ipu_mlir.runtime.translator.array_ir.verify import errors_of
from ipu_mlir.runtime.translator.passes import ArrayPass, optimized
from ipu_mlir.runtime.translator.translate import array_program, translate_arrays

NAMES = [
    "jax_argmax",
    "jax_cnn_train",
    "jax_cumsum",
    "jax_dropout_threefry",
    "jax_f16_mlp",
    "jax_heat2d_fori",
    "jax_lstm_fwd",
    "jax_math_zoo",
    "jax_newton_while",
    "jax_sort",
    "kerasjax_mnist_sgd_step",
    "onnx_cnn",
    "pt_mlp_train",
    "tf_keras_mnist_loop_on_device",
]


def without_comments(text: str) -> str:
    return re.sub(r"  // .*", "", text)


@pytest.mark.parametrize("name", NAMES)
def test_every_pass_leaves_a_legal_program_that_is_read_back(name: str) -> None:
    module = ipu.compile(FOLDER / name / "module.mlir", target=ipu.Target(tiles_per_ipu=16)).module()

    def check(each: ArrayPass, left: Program) -> None:
        assert errors_of(left) == [], each.name
        text = program_text(left)
        assert without_comments(program_text(parse_program(text))) == without_comments(text), each.name

    imported = array_program(module)
    assert errors_of(imported, renamed=False) == []
    text = program_text(imported)
    last = optimized(imported, TranslatorOptions(), after=check)
    assert program_text(imported) == text, "a pass changed what it was given"
    assert "def main(" in translate_arrays(parse_program(program_text(last)), TranslatorOptions()).source


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("program", "module", "has 'module' where 'program' is expected"),
        ("float32[4]", "float33[4]", "a NumPy type, not 'float33'"),
        ("add(%x[d0]", "add(%x[d1]", "one of 1 loops, not d1"),
        ("store", "stone", "has 'stone' where '}' is expected"),
        ("= [1.0, 2.0", "= [1.0", "a constant of 4 elements, not 3"),
        ("add(%x", "add(%z", "a buffer that is declared, not %z"),
        ("temporary %y", "temporary %x", "a buffer other than %x"),
        ("2.5)", "2.5", "','"),
    ],
)
def test_wrong_text_is_an_error_that_names_the_line(old: str, new: str, found: str) -> None:
    text = """\
program @main(%x) -> (%y[d0] : 4) {
  argument %x : float32[4]
  constant %c : float32[4] = [1.0, 2.0, 3.0, 4.0]
  temporary %y : float32[4]
  elementwise 4 {
    store add(%x[d0], multiply(%c[d0], float32(2.5))), %y[d0]
  }
}
"""
    parse_program(text)
    with pytest.raises(ArrayTextError, match=re.escape(found)) as caught:
        parse_program(text.replace(old, new, 1))
    assert re.match(r"line \d+ of the array program", str(caught.value))


def test_a_place_beside_a_value_of_one_operand_is_no_extreme() -> None:
    text = """func.func @main(%x: tensor<5xf32>) -> (tensor<f32>, tensor<i32>) {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i32
  %e = tensor.empty() : tensor<f32>
  %ei = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %fi = linalg.fill ins(%zi : i32) outs(%ei : tensor<i32>) -> tensor<i32>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<5xf32>) outs(%f, %fi : tensor<f32>, tensor<i32>) {
  ^bb0(%in: f32, %out: f32, %place: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %s = arith.addf %in, %out : f32
    %a = math.absf %s : f32
    %c = arith.cmpf ogt, %in, %out : f32
    %p = arith.select %c, %n, %place : i32
    linalg.yield %a, %p : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}"""
    x = np.array([1, -3, 5, 2, 9], np.float32)
    exe = ipu.compile(text, target=ipu.Target(tiles_per_ipu=1))
    assert [each.item() for each in exe.run([x])] == [each.item() for each in exe.run_per_tile([x])] == [18, 2]
