"""Programs that cannot be compiled are refused at the op that is wrong, and never compiled into something else.

Diagnostics that work stand in ``test/filecheck``; this is the table of programs that once did worse.
"""

import re

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.diagnostics import DiagnosedError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES

REGISTRY = Registry(PASSES, PIPELINES)


def refusal(text, pipeline):
    """The diagnostics that ``pipeline`` refuses ``text`` with."""
    with pytest.raises(DiagnosedError) as refused:
        run_steps(parse_module(text, ipu.context(), "t.mlir"), REGISTRY.resolve(pipeline))
    return refused.value.diagnostics


PROGRAMS = {
    "a mapping with an entry that is too short": (
        "ipu-check-supersteps",
        """func.func @f(%x: memref<4xf32, #ipu.mapping<4, [[2, 4]], 0, 0>>) {
  return
}""",
        r"mapping",
    ),
    "a mapping in blocks of nothing": (
        "ipu-check-supersteps",
        """func.func @f(%x: memref<4xf32, #ipu.mapping<4, [[0, 4, 1, 1]], 0, 0>>) {
  return
}""",
        r"block",
    ),
    "parts with an entry that is too short": (
        "ipu-partition",
        """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4]], 0>}
      ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}""",
        r"parts",
    ),
    "an operand whose mapping puts two parts on one tile": (
        "ipu-check-supersteps",
        """#t = #ipu.mapping<4, [[2, 4, 1, 0]], 0, 0>
#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @f(%x: memref<4xf32, #t>, %y: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #t>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}""",
        r"two parts on one tile",
    ),
    "a target with a field that no machine has": (
        "ipu-partition",
        """module attributes {ipu.target = #ipu.target<{tyles_per_ipu = 4}>} {
  func.func @f() {
    return
  }
}""",
        r"tyles_per_ipu",
    ),
    "control flow that reads what nothing has written": (
        "ipu-check-supersteps",
        """#p = #ipu.mapping<1, [], 0, 0>
func.func @f() -> i1 {
  %a = memref.alloc() : memref<i1, #p>
  %c = "ipu.read_control"(%a) : (memref<i1, #p>) -> i1
  return %c : i1
}""",
        r"'ipu.read_control' op reads a buffer that nothing has written before",
    ),
    "an argument that is written": (
        "ipu-check-supersteps",
        """#p = #ipu.mapping<1, [], 0, 0>
#q = #ipu.mapping<1, [], 0, 1>
func.func @f(%x: memref<i1, #p>, %y: memref<i1, #q>) {
  "ipu.exchange"(%x, %y) : (memref<i1, #p>, memref<i1, #q>) -> ()
  return
}""",
        r"writes",
    ),
    "a constant that is written": (
        "ipu-check-supersteps",
        """#p = #ipu.mapping<1, [], 0, 0>
#q = #ipu.mapping<1, [], 0, 1>
memref.global "private" constant @w : memref<i1, #q> = dense<1>
func.func @f(%x: memref<i1, #p>) {
  %y = memref.get_global @w : memref<i1, #q>
  "ipu.exchange"(%x, %y) : (memref<i1, #p>, memref<i1, #q>) -> ()
  return
}""",
        r"writes",
    ),
    "a place that changes the type": (
        "ipu-compile",
        """func.func @f(%x: tensor<4xf32>) -> tensor<4xi32> {
  %y = "ipu.place"(%x) {mapping = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>} : (tensor<4xf32>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}""",
        r"'ipu.place' op",
    ),
    "a place of a scalar": (
        "ipu-compile",
        """func.func @f(%x: f32) -> f32 {
  %y = "ipu.place"(%x) {mapping = #ipu.mapping<1, [], 0, 3>} : (f32) -> f32
  return %y : f32
}""",
        r"'ipu.place' op",
    ),
    "a shape that is not known": (
        "ipu-compile",
        """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}""",
        r"\?",
    ),
    "a slice whose size is not known": (
        "ipu-compile",
        """func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<?xf32> {
  %y = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}""",
        r"'tensor.extract_slice' op .*size",
    ),
    "a rank that is not known": (
        "ipu-compile",
        """func.func @f(%x: tensor<*xf32>) -> tensor<*xf32> {
  return %x : tensor<*xf32>
}""",
        r"tensor<\*xf32>",
    ),
    "a gather of slices": (
        "ipu-compile",
        """func.func @f(%x: tensor<4x3xf32>, %at: tensor<2x1xindex>) -> tensor<2x3xf32> {
  %y = tensor.gather %x[%at] gather_dims([0]) : (tensor<4x3xf32>, tensor<2x1xindex>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}""",
        r"'tensor.gather' op",
    ),
    "an update of rows by a dynamic number": (
        "ipu-compile",
        """func.func @f(%x: tensor<4xf32>, %y: tensor<?xf32>, %i: index, %n: index) -> tensor<4xf32> {
  %z = tensor.insert_slice %y into %x[%i] [%n] [1] : tensor<?xf32> into tensor<4xf32>
  return %z : tensor<4xf32>
}""",
        r"argument 1 with a size that is not known",
    ),
    "parts that are malformed in a pipeline": (
        "ipu-compile",
        """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x {ipu.parts = #ipu.parts<[[2, "4", 1]], 0>} : tensor<4xf32>
  return %y : tensor<4xf32>
}""",
        r"'math.exp' op has #ipu.parts.*not made of integers",
    ),
    "complex numbers": (
        "ipu-compile",
        """func.func @f(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  return %x : tensor<4xcomplex<f32>>
}""",
        r"complex<f32>",
    ),
    "a structured op without a loop nest": (
        "ipu-partition",
        """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  %y = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<4xf32> -> tensor<2x2xf32>
  %z = tensor.collapse_shape %y [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  return %z : tensor<4xf32>
}""",
        r"'linalg.pack' op has loops whose extents are not known",
    ),
    "a reshape by a shape that is data": (
        "ipu-compile",
        """func.func @f(%x: tensor<4x3xf32>, %s: tensor<1xi32>) -> tensor<12xf32> {
  %y = tensor.reshape %x(%s) : (tensor<4x3xf32>, tensor<1xi32>) -> tensor<12xf32>
  return %y : tensor<12xf32>
}""",
        r"'tensor.reshape' op",
    ),
    "a call of what is declared only": (
        "ipu-compile",
        """func.func private @g(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}""",
        r"'func.call' op (?!.*type mismatch)",
    ),
    "a function of several blocks": (
        "ipu-compile",
        """func.func @f(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  cf.cond_br %c, ^a, ^b
^a:
  return %x : tensor<4xf32>
^b:
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}""",
        r"blocks",
    ),
}


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_program_is_refused_at_its_place(name):
    pipeline, text, message = PROGRAMS[name]
    diagnostics = refusal(text, pipeline)
    assert all(diagnostic.line for diagnostic in diagnostics), "every diagnostic names a line"
    assert any(re.search(message, diagnostic.message) for diagnostic in diagnostics), [str(d) for d in diagnostics]
