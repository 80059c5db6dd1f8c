"""All ops of a program that cannot be compiled are listed at once, each with its place and a way out."""

import pytest

import ipu_mlir as ipu
from ipu_mlir.passes.importing.wrap_scalars import WrapScalars

UNREGISTERED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "acme.fast"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "acme.faster"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Relu"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
REGISTERED = """
func.func @main(%x: tensor<4xf32>, %i: index, %c: i1) -> tensor<4xf32> {
  %e = tensor.extract %x[%i] : tensor<4xf32>
  cf.assert %c, "never"
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %u = tensor.empty(%i) : tensor<?xf32>
  %w = arith.constant dense<0> : tensor<4xi4>
  %1 = tensor.insert %e into %0[%i] : tensor<4xf32>
  %2 = "user.of"(%u, %w, %1) : (tensor<?xf32>, tensor<4xi4>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


def lines_of(text):
    with pytest.raises(ipu.CompileError) as caught:
        ipu.compile(text)
    return str(caught.value).splitlines()


def test_all_unknown_ops_are_listed_with_their_lines():
    first, second, third = lines_of(UNREGISTERED)
    assert first.startswith("<text>:3:8: error: 'acme.fast' is not supported; programs are made of arith, ")
    assert second.startswith("<text>:4:8: error: 'acme.faster' is not supported")
    assert third.startswith("<text>:5:8: error: 'onnx.Relu' is not supported; compile the ONNX model itself")


def test_all_ops_that_cannot_be_compiled_are_listed_with_a_way_out():
    expected = [
        (5, "'tosa.abs' is not supported; run tosa-to-linalg-named"),
        (6, "'tensor.empty' gives tensor<?xf32>, whose sizes are not all known; give the program fixed sizes"),
        (7, "'arith.constant' gives tensor<4xi4>, whose elements are not supported; they can be f64, f32"),
        (9, "'user.of' is not supported"),
    ]
    found = lines_of(REGISTERED)
    assert len(found) == len(expected)
    for line, (number, message) in zip(found, expected, strict=True):
        assert line.startswith(f"<text>:{number}:") and message in line


def test_ops_that_vanish_when_the_program_is_normalised_do_not_count():
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %true = arith.constant true
      cf.assert %true, "never"
      %zero = arith.constant dense<0.0> : tensor<f32>
      %e = tensor.extract %zero[] : tensor<f32>
      %0 = tensor.splat %e : tensor<4xf32>
      %1 = arith.addf %x, %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }"""
    assert ipu.compile(text, target=ipu.Target(tiles_per_ipu=2)).result_specs == (ipu.TensorSpec((4,)),)


def test_a_pipeline_of_the_users_own_may_know_more_ops():
    text = REGISTERED.replace('  %2 = "user.of"(%u, %w, %1) : (tensor<?xf32>, tensor<4xi4>, tensor<4xf32>) ->', "//")
    with pytest.raises(ipu.CompileError) as caught:
        ipu.compile(text.replace("return %2", "return %1"), pipeline="canonicalize,no-such-pass")
    assert "there is no pass or pipeline 'no-such-pass'" in str(caught.value)


def test_a_program_with_an_assertion_is_normalised_once(monkeypatch: pytest.MonkeyPatch):
    runs: list[object] = []
    run = WrapScalars.run
    monkeypatch.setattr(WrapScalars, "run", lambda self, module: (runs.append(module), run(self, module)))
    ipu.compile("""
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %true = arith.constant true
      cf.assert %true, "never"
      %y = arith.addf %x, %x : tensor<4xf32>
      %0 = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
      return %y : tensor<4xf32>
    }""")
    assert len(runs) == 1
