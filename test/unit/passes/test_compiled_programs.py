"""Unusual programs that compile: no elements, one element, no arguments, ops that upstream writes in two ways."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.passes.support.rewriting import list_ops

REGISTRY = Registry(PASSES, PIPELINES)

PROGRAMS = {
    "nothing": "func.func @f() {\n  return\n}",
    "scalars only": "func.func @f(%x: f32) -> f32 {\n  %y = arith.addf %x, %x : f32\n  return %y : f32\n}",
    "an argument that nobody reads": "func.func @f(%x: tensor<4xf32>) {\n  return\n}",
    "one element": """func.func @f(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y = arith.addf %x, %x : tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}""",
    "rank zero from a constant": """func.func @f() -> tensor<f32> {
  %c = arith.constant dense<1.5> : tensor<f32>
  return %c : tensor<f32>
}""",
    "one value returned twice": """func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y, %y : tensor<4xf32>, tensor<4xf32>
}""",
    "more elements than fit evenly": """func.func @f(%x: tensor<7x11xi64>) -> tensor<7x11xi64> {
  %y = arith.muli %x, %x : tensor<7x11xi64>
  return %y : tensor<7x11xi64>
}""",
    "two functions": """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @g(%x: tensor<4xi8>) -> tensor<4xi8> {
  %y = arith.addi %x, %x : tensor<4xi8>
  return %y : tensor<4xi8>
}""",
    "booleans": """func.func @f(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xi1> {
  %c = arith.cmpf olt, %x, %y : tensor<5xf32>
  return %c : tensor<5xi1>
}""",
    "a while loop": """func.func @f(%x: tensor<i32>) -> tensor<i32> {
  %ten = arith.constant 10 : i32
  %r = scf.while (%carried = %x) : (tensor<i32>) -> tensor<i32> {
    %n = tensor.extract %carried[] : tensor<i32>
    %c = arith.cmpi slt, %n, %ten : i32
    scf.condition(%c) %carried : tensor<i32>
  } do {
  ^bb0(%carried: tensor<i32>):
    %s = arith.addi %carried, %carried : tensor<i32>
    scf.yield %s : tensor<i32>
  }
  return %r : tensor<i32>
}""",
    "a slice at a run-time offset": """func.func @f(%x: tensor<8x3xf32>, %i: index) -> tensor<2x3xf32> {
  %y = tensor.extract_slice %x[%i, 0] [2, 3] [1, 1] : tensor<8x3xf32> to tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}""",
    "a slice that is read after its tensor was updated": """func.func @f(%x: tensor<4xf32>, %new: tensor<1xf32>)
    -> (tensor<4xf32>, tensor<2xf32>) {
  %y = math.exp %x : tensor<4xf32>
  %s = tensor.extract_slice %y[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %z = tensor.insert_slice %new into %y[1] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %t = math.log %s : tensor<2xf32>
  return %z, %t : tensor<4xf32>, tensor<2xf32>
}""",
    "an update of a view that is cut along none of its dimensions": """
func.func @f(%x: tensor<5x2x2xf32>, %new: tensor<1x2xf32>) -> tensor<10x2xf32> {
  %y = tensor.collapse_shape %x [[0, 1], [2]] : tensor<5x2x2xf32> into tensor<10x2xf32>
  %z = tensor.insert_slice %new into %y[1, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<10x2xf32>
  return %z : tensor<10x2xf32>
}""",
    "no elements": """func.func @f(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %y = arith.addf %x, %x : tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}""",
    "a constant without elements": """func.func @f() -> tensor<0xf32> {
  %y = arith.constant dense<> : tensor<0xf32>
  return %y : tensor<0xf32>
}""",
    "a reduction over nothing": """func.func @f(%x: tensor<3x0xf32>, %acc: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.reduce {arith.addf} ins(%x : tensor<3x0xf32>) outs(%acc : tensor<3xf32>) dimensions = [1]
  return %y : tensor<3xf32>
}""",
    "a loop that carries nothing": """func.func @f(%x: tensor<0xf32>, %n: index) -> tensor<0xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> tensor<0xf32> {
    %y = math.exp %t : tensor<0xf32>
    scf.yield %y : tensor<0xf32>
  }
  return %r : tensor<0xf32>
}""",
    "a softmax": """func.func @f(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}""",
    "a pad with a border that is computed": """func.func @f(%x: tensor<2xi64>) -> tensor<4xi64> {
  %y = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %v = arith.index_cast %i : index to i64
    tensor.yield %v : i64
  } : tensor<2xi64> to tensor<4xi64>
  return %y : tensor<4xi64>
}""",
    "a splat": """func.func @f(%c: f32) -> tensor<4xf32> {
  %y = tensor.splat %c : tensor<4xf32>
  return %y : tensor<4xf32>
}""",
    "a generated tensor": """func.func @f() -> tensor<4xi64> {
  %y = tensor.generate {
  ^bb0(%i: index):
    %v = arith.index_cast %i : index to i64
    tensor.yield %v : i64
  } : tensor<4xi64>
  return %y : tensor<4xi64>
}""",
}


@pytest.mark.parametrize("name", list(PROGRAMS))
@pytest.mark.parametrize("tiles", [1, 4, 64])
def test_program_compiles(name, tiles):
    module = parse_module(PROGRAMS[name], ipu.context(), "t.mlir")
    functions = [op.attributes["sym_name"] for op in list_ops(module.operation, "func.func")]
    run_steps(module, REGISTRY.resolve(f"ipu-set-target{{tiles={tiles}}},ipu-compile"))
    assert [op.attributes["sym_name"] for op in list_ops(module.operation, "func.func")] == functions
    assert not [op.name for op in list_ops(module.operation) if op.name.startswith("tensor.")]


def test_ir_does_not_grow_with_the_tiles():
    """One compute set for 1 and for 5888 tiles: only the numbers in the attributes differ."""
    sizes = set()
    for tiles in (1, 4, 1472, 5888):
        module = parse_module(PROGRAMS["more elements than fit evenly"], ipu.context())
        run_steps(module, REGISTRY.resolve(f"ipu-set-target{{tiles={tiles}}},ipu-compile"))
        sizes.add(len(list_ops(module.operation)))
    assert len(sizes) == 1


def test_specialising_a_function_that_is_not_there_is_refused():
    module = parse_module(PROGRAMS["nothing"], ipu.context(), "t.mlir")
    with pytest.raises(CompileError, match="no function 'g'"):
        run_steps(module, REGISTRY.resolve("ipu-specialize-shapes{function=g}"))
