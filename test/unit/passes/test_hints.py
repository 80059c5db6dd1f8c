"""What the writer of a program says about placement is found again in the program of supersteps."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes.attributes import mapping_from_attr, parts_from_attr
from ipu_mlir.dialects.mapping.build import linear, one_tile
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.passes.support.rewriting import list_ops

REGISTRY = Registry(PASSES, PIPELINES)
LAST_TILE = "#ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>"
HALVES = "#ipu.mapping<4, [[2, 4, 1, 1]], 0, 2>"


def compiled(body, arguments="", results="tensor<4xf32>", pipeline="ipu-compile"):
    """A module of one function ``@f`` on four tiles, after ``pipeline``."""
    text = f"func.func @f({arguments}) -> {results} {{\n{body}\n}}"
    target = "module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>}"
    module = parse_module(f"{target} {{\n{text}\n}}", ipu.context())
    run_steps(module, REGISTRY.resolve(pipeline))
    return module


def result_mapping(module):
    (function_return,) = list_ops(module.operation, "func.return")
    return mapping_from_attr(function_return.operands[0].type.memory_space)


def argument_mapping(module):
    (function,) = list_ops(module.operation, "func.func")
    return mapping_from_attr(function.regions[0].blocks[0].arguments[0].type.memory_space)


def vertices_parts(module):
    return [parts_from_attr(op.attributes["parts"]) for op in list_ops(module.operation, "ipu.vertices")]


def test_hint_on_an_argument():
    module = compiled("  return %x : tensor<4xf32>", f"%x: tensor<4xf32> {{ipu.map = {HALVES}}}")
    assert argument_mapping(module) == linear(4, 2, first_tile=2)


def test_hint_on_an_op():
    body = """
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp {ipu.parts = #ipu.parts<[[1, 4, 1]], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>"""
    module = compiled(body, "%x: tensor<4xf32>")
    assert vertices_parts(module) == [Parts((PartLoop(1, 4, 1),))]


def test_hint_on_a_result():
    body = f"""
  %y = math.exp %x : tensor<4xf32>
  %z = "ipu.place"(%y) {{mapping = {LAST_TILE}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>"""
    module = compiled(body, "%x: tensor<4xf32>")
    assert result_mapping(module) == one_tile(4, tile=3)
    assert vertices_parts(module) == [Parts((PartLoop(4, 4, 0),), 3)]


def test_hint_in_between_is_honoured_though_the_ops_could_fuse():
    body = f"""
  %y = math.exp %x : tensor<4xf32>
  %z = "ipu.place"(%y) {{mapping = {LAST_TILE}}} : (tensor<4xf32>) -> tensor<4xf32>
  %w = math.log %z : tensor<4xf32>
  return %w : tensor<4xf32>"""
    module = compiled(body, "%x: tensor<4xf32>")
    assert vertices_parts(module)[0] == Parts((PartLoop(4, 4, 0),), 3)


def test_one_value_in_two_places():
    body = f"""
  %y = "ipu.place"(%x) {{mapping = {LAST_TILE}}} : (tensor<4xf32>) -> tensor<4xf32>
  %z = "ipu.place"(%x) {{mapping = {HALVES}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>"""
    module = compiled(body, "%x: tensor<4xf32>", "(tensor<4xf32>, tensor<4xf32>)")
    (function_return,) = list_ops(module.operation, "func.return")
    places = [mapping_from_attr(value.type.memory_space) for value in function_return.operands]
    assert places == [one_tile(4, tile=3), linear(4, 2, first_tile=2)]
    assert len(list_ops(module.operation, "ipu.exchange")) == 1


@pytest.mark.parametrize(
    "op",
    [
        f"arith.constant {{ipu.map = {LAST_TILE}}} dense<[1.0, 2.0, 3.0, 4.0]>",
        f"tensor.empty() {{ipu.map = {LAST_TILE}}}",
    ],
)
def test_hint_on_a_constant_or_an_empty_tensor(op):
    module = compiled(f"  %y = {op} : tensor<4xf32>\n  return %y : tensor<4xf32>", pipeline="ipu-partition")
    (op,) = list_ops(module.operation, "arith.constant", "tensor.empty")
    assert mapping_from_attr(op.attributes["ipu.map"]) == one_tile(4, tile=3)


def test_mapping_that_a_type_has_already():
    tensor = f"tensor<4xf32, {LAST_TILE}>"
    module = compiled(f"  return %x : {tensor}", f"%x: {tensor}", tensor)
    assert argument_mapping(module) == one_tile(4, tile=3)


def test_hint_on_an_initial_fill():
    body = """
  %e = tensor.empty() : tensor<2x2xf32>
  %z = linalg.fill {ipu.parts = #ipu.parts<[[2, 2, 0], [2, 2, 0]], 3>} ins(%c : f32) outs(%e : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>"""
    module = compiled(body, "%x: tensor<2x2xf32>, %c: f32", "tensor<2x2xf32>", pipeline="ipu-partition")
    (fill,) = list_ops(module.operation, "linalg.fill")
    assert parts_from_attr(fill.attributes["ipu.parts"]) == Parts((PartLoop(2, 2, 0), PartLoop(2, 2, 0)), 3)


@pytest.mark.parametrize(
    "body",
    [
        f"  %y = arith.constant {{ipu.map = {LAST_TILE}}} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>",
        f"  %y = tensor.empty() {{ipu.map = {LAST_TILE}}} : tensor<4xf32>",
        f"""  %e = tensor.empty() {{ipu.map = {LAST_TILE}}} : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>""",
        f"""  %t = tensor.cast %x : tensor<4xf32> to tensor<4xf32, {LAST_TILE}>
  %u = math.exp %t : tensor<4xf32, {LAST_TILE}>
  %y = tensor.cast %u : tensor<4xf32, {LAST_TILE}> to tensor<4xf32>""",
    ],
    ids=["constant", "empty tensor", "empty tensor that an op fills", "type of a value in between"],
)
def test_hint_is_found_again_in_the_supersteps(body):
    module = compiled(f"{body}\n  return %y : tensor<4xf32>", "%x: tensor<4xf32>")
    assert result_mapping(module) == one_tile(4, tile=3)


def test_parts_of_an_initial_fill_are_found_again_in_the_supersteps():
    body = """
  %e = tensor.empty() : tensor<2x2xf32>
  %z = linalg.fill {ipu.parts = #ipu.parts<[[2, 2, 0], [2, 2, 0]], 3>} ins(%c : f32) outs(%e : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>"""
    module = compiled(body, "%x: tensor<2x2xf32>, %c: f32", "tensor<2x2xf32>")
    assert vertices_parts(module)[0] == Parts((PartLoop(2, 2, 0), PartLoop(2, 2, 0)), 3)


def test_wish_for_a_reshaped_result_is_followed():
    body = f"""
  %y = math.exp %x : tensor<2x2xf32>
  %r = tensor.collapse_shape %y [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %z = "ipu.place"(%r) {{mapping = {LAST_TILE}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>"""
    module = compiled(body, "%x: tensor<2x2xf32>")
    assert {parts.first_tile for parts in vertices_parts(module)} == {3}
