"""Loop nests of structured ops, named and generic."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.index import Index, loop_strides
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest, num_outputs, reads_operand
from ipu_mlir.dialects.analysis.memory_access import memory_accesses
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

MATMUL = """
func.func @f(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<4x3xf32>, tensor<3x5xf32>) outs(%y : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}"""
CONV = """
func.func @f(%x: tensor<8xf32>, %k: tensor<3xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.conv_1d ins(%x, %k : tensor<8xf32>, tensor<3xf32>) outs(%y : tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}"""
POOL = """
func.func @f(%x: tensor<1x8x2xf32>, %k: tensor<3xf32>, %y: tensor<1x3x2xf32>) -> tensor<1x3x2xf32> {
  %r = linalg.pooling_nwc_max {strides = dense<2> : tensor<1xi64>} ins(%x, %k : tensor<1x8x2xf32>, tensor<3xf32>)
      outs(%y : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  return %r : tensor<1x3x2xf32>
}"""
REDUCE = """
func.func @f(%x: tensor<4x3xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<4x3xf32>) outs(%y : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}"""
SCALAR = """
func.func @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %r = linalg.exp ins(%x : tensor<f32>) outs(%y : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}"""
FILL = """
func.func @f(%c: f32, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.fill ins(%c : f32) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"""
GENERIC = """
func.func @f(%x: tensor<9x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> ({index}, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<9x4xf32>) outs(%y : tensor<4x4xf32>) {{
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }} -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}}"""
SOFTMAX = """
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.softmax dimension(0) ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"""
GATHER = """
func.func @f(%table: tensor<8x4xf32>, %at: tensor<3xindex>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<3xindex>) outs(%y : tensor<3x4xf32>) {
  ^bb0(%a: index, %b: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%a, %j] : tensor<8x4xf32>
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}"""


@pytest.fixture
def op_of():
    """The one structured op of a text; the modules live as long as the test."""
    kept = []

    def find(text):
        kept.append(parse_module(text, ipu.context()))
        (op,) = [op for op in list_ops(kept[-1].operation) if is_structured(op)]
        return op

    return find


@pytest.mark.parametrize(
    ("text", "extents", "parallel"),
    [
        (MATMUL, (4, 5, 3), (True, True, False)),
        (CONV, (6, 3), (True, False)),
        (POOL, (1, 3, 2, 3), (True, True, True, False)),
        (REDUCE, (4, 3), (True, False)),
        (SCALAR, (), ()),
        (FILL, (4,), (True,)),
    ],
    ids=["matmul", "conv", "pool", "reduce", "scalar", "fill"],
)
def test_extents_and_parallel_loops(op_of, text, extents, parallel):
    nest = loop_nest(op_of(text))
    assert (nest.extents, nest.parallel) == (extents, parallel)


def test_indices_of_a_matmul(op_of):
    nest = loop_nest(op_of(MATMUL))
    m, n, k = (Index(tuple(int(loop == at) for loop in range(3))) for at in range(3))
    assert nest.indices == ((m, k), (k, n), (m, n))
    assert nest.num_inputs == 2
    assert nest.outputs == ((m, n),)


def test_index_of_a_window_is_a_sum(op_of):
    assert loop_nest(op_of(CONV)).indices[0] == (Index((1, 1)),)
    assert loop_nest(op_of(POOL)).indices[0][1] == Index((0, 2, 0, 1))


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("i * 2 + 1", Index((2, 0), 1)),
        ("8 - i", Index((-1, 0), 8)),
        ("3", Index((0, 0), 3)),
        ("i + j", Index((1, 1))),
        ("i floordiv 2", Index((0, 0), linear=False, block_of=(0, 2))),
        ("(i + j) floordiv 2", Index((0, 0), linear=False)),
        ("i mod 2 + j", Index((0, 0), linear=False)),
    ],
)
def test_index_of_a_generic(op_of, text, index):
    assert loop_nest(op_of(GENERIC.format(index=text))).indices[0][0] == index


def test_no_nest_where_the_op_has_no_maps(op_of):
    assert loop_nest(op_of(SOFTMAX)) is None


def test_no_nest_where_a_shape_is_not_known(op_of):
    assert loop_nest(op_of(SCALAR.replace("tensor<f32>", "tensor<?xf32>"))) is None


@pytest.mark.parametrize(("coefficients", "constant", "loop"), [((0, 1), 0, 1), ((0, 2), 0, None), ((1, 1), 0, None),
                                                                ((0, 1), 3, None), ((0, 0), 0, None)])  # fmt: skip
def test_plain_loop(coefficients, constant, loop):
    assert Index(coefficients, constant).plain_loop == loop


def test_window_of_a_pooling_is_not_read(op_of):
    op = op_of(POOL)
    assert [reads_operand(op, number) for number in range(3)] == [True, False, True]
    assert [access.name for access in memory_accesses(op, loop_nest(op))] == ["operand 0", "result 0"]


def test_result_of_an_element_wise_op_is_not_read(op_of):
    assert not reads_operand(op_of(SCALAR), 1)


def test_scalar_is_no_memory(op_of):
    op = op_of(FILL)
    assert [(access.name, access.written) for access in memory_accesses(op, loop_nest(op))] == [("result 0", True)]


def test_load_in_a_body_is_an_access(op_of):
    op = op_of(GATHER)
    (load,) = [access for access in memory_accesses(op, loop_nest(op)) if access.owner != op]
    assert load.name == "load 0 of the body"
    assert not load.written
    assert str(load.value.type) == "tensor<8x4xf32>"
    assert load.indices == (Index((0, 0), linear=False), Index((0, 1)))


def test_num_outputs_of_a_reduction_of_two(op_of):
    op = op_of("""
func.func @f(%x: tensor<4xf32>, %i: tensor<4xi32>, %y: tensor<f32>, %j: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %r:2 = linalg.reduce ins(%x, %i : tensor<4xf32>, tensor<4xi32>)
    outs(%y, %j : tensor<f32>, tensor<i32>) dimensions = [0]
    (%a: f32, %b: i32, %c: f32, %d: i32) {
      linalg.yield %a, %b : f32, i32
    }
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}""")
    assert num_outputs(op) == 2
    assert loop_nest(op).num_inputs == 2


def test_strides_of_a_transposed_access():
    assert loop_strides((Index((0, 1)), Index((1, 0))), (10, 1), loops=2) == ((1, 10), 0, ())


def test_dimension_that_is_not_linear_is_needed_whole():
    assert loop_strides((Index((0,), linear=False), Index((1,))), (10, 1), loops=1) == ((1,), 0, ((0, 10),))


def test_a_reduction_kept_per_block_may_be_cut_there(op_of):
    op = op_of("""
func.func @f(%x: tensor<8x10xf32>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k floordiv 4, i)>],
    iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x10xf32>) outs(%y : tensor<3x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  } -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}""")
    assert loop_nest(op).cut_multiples == (1, 4)


def test_an_op_without_operands_has_no_loops():
    text = """func.func @f() {
      %true = arith.constant true
      "linalg.generic"() <{indexing_maps = [], iterator_types = [], operandSegmentSizes = array<i32: 0, 0>}> ({
        cf.assert %true, "left by canonicalization"
        linalg.yield
      }) : () -> ()
      return
    }"""
    (op,) = [each for each in list_ops(parse_module(text, ipu.context()).operation) if is_structured(each)]
    nest = loop_nest(op)
    assert nest is not None and nest.extents == () and nest.indices == ()
