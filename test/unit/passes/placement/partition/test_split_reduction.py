"""Reductions that are split or run in steps give what they gave before, on every executor."""

import numpy as np
import pytest

import ipu_mlir as ipu

PLACE = (
    "ipu-fill-empties",
    "ipu-split-fills",
    "ipu-materialize-views",
    "ipu-partition",
    "ipu-place-tensors",
    "ipu-hoist-casts",
    "ipu-reuse-operands",
    "ipu-lower",
)
TARGET = ipu.Target(tiles_per_ipu=16)

REDUCTIONS = {
    "addf": ("f32", "addf", lambda x, y: x.astype(np.float64).sum(axis=1) + y),
    "mulf": ("f32", "mulf", lambda x, y: x.astype(np.float64).prod(axis=1) * y),
    "maximumf": ("f32", "maximumf", lambda x, y: np.maximum(x.max(axis=1), y)),
    "minnumf": ("f32", "minnumf", lambda x, y: np.fmin(np.fmin.reduce(x, axis=1), y)),
    "addi": ("i32", "addi", lambda x, y: x.sum(axis=1, dtype=np.int32) + y),
    "muli": ("i8", "muli", lambda x, y: x.prod(axis=1, dtype=np.int8) * y),
    "maxsi": ("i32", "maxsi", lambda x, y: np.maximum(x.max(axis=1), y)),
    "minui": ("i16", "minui", lambda x, y: np.minimum(x.view(np.uint16).min(axis=1), y.view(np.uint16)).view(np.int16)),
    "andi": ("i1", "andi", lambda x, y: x.all(axis=1) & y),
    "ori": ("i1", "ori", lambda x, y: x.any(axis=1) | y),
    "xori": ("i32", "xori", lambda x, y: np.bitwise_xor.reduce(x, axis=1) ^ y),
}
DTYPES = {"f32": np.float32, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_}


def reduction(dtype, combiner):
    return f"""
#parts = #ipu.parts<[[2, 6, 4], [5, 18, 1]], 0>
func.func @main(%x: tensor<6x18x{dtype}>, %y: tensor<6x{dtype}>) -> tensor<6x{dtype}> {{
  %r = linalg.reduce {{arith.{combiner}}} ins(%x : tensor<6x18x{dtype}>) outs(%y : tensor<6x{dtype}>) dimensions = [1]
    {{ipu.parts = #parts}}
  return %r : tensor<6x{dtype}>
}}"""


def inputs(dtype, seed=0):
    rng = np.random.default_rng(seed)
    shapes = ((6, 18), (6,))
    if dtype == "f32":
        x, y = (rng.uniform(0.5, 1.5, shape).astype(np.float32) for shape in shapes)
        x[0, 7] = np.nan
        return [x, y]
    if dtype == "i1":
        return [rng.uniform(size=shape) > 0.1 for shape in shapes]
    info = np.iinfo(DTYPES[dtype])
    return [rng.integers(info.min, info.max, shape, DTYPES[dtype], endpoint=True) for shape in shapes]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_split_reduction_is_the_reduction(name):
    dtype, combiner, expected = REDUCTIONS[name]
    executable = ipu.compile(reduction(dtype, combiner), target=TARGET, pipeline=PLACE)
    assert "floordiv 5" in executable.mlir("l3")
    arrays = inputs(dtype)
    for run in (executable.run, executable.run_per_tile):
        np.testing.assert_allclose(run(arrays)[0], expected(*arrays), rtol=2e-6)


def test_an_op_with_two_results_stays_whole():
    text = """
func.func @main(%x: tensor<4096xf32>, %i: tensor<4096xi32>, %y: tensor<f32>, %j: tensor<i32>)
    -> (tensor<f32>, tensor<i32>) {
  %r:2 = linalg.reduce ins(%x, %i : tensor<4096xf32>, tensor<4096xi32>) outs(%y, %j : tensor<f32>, tensor<i32>)
    dimensions = [0] (%a: f32, %b: i32, %c: f32, %d: i32) {
      %g = arith.cmpf ogt, %a, %c : f32
      %v = arith.select %g, %a, %c : f32
      %w = arith.select %g, %b, %d : i32
      linalg.yield %v, %w : f32, i32
    }
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}"""
    executable = ipu.compile(text, target=TARGET, pipeline=PLACE)
    assert "floordiv" not in executable.mlir("l3")
    x = np.random.default_rng(0).standard_normal(4096, dtype=np.float32)
    value, at = executable.run([x, np.arange(4096, dtype=np.int32), np.float32(-np.inf), np.int32(-1)])
    assert value == x.max() and at == x.argmax()


CONV = """
func.func @main(%x: tensor<1x10x8x6xf32>, %w: tensor<3x3x6x4xf32>, %y: tensor<1x8x6x4xf32>) -> tensor<1x8x6x4xf32>
    attributes {ipu.available_memory_proportion = PROPORTION : f64} {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%x, %w : tensor<1x10x8x6xf32>, tensor<3x3x6x4xf32>) outs(%y : tensor<1x8x6x4xf32>) -> tensor<1x8x6x4xf32>
  return %r : tensor<1x8x6x4xf32>
}"""


@pytest.mark.parametrize(("proportion", "steps"), [(0.6, 0), (0.0008, 2)])
def test_a_convolution_in_steps_is_the_convolution(proportion, steps):
    executable = ipu.compile(CONV.replace("PROPORTION", str(proportion)), target=TARGET, pipeline=PLACE)
    assert executable.mlir("l3").count("memref.subview") >= steps
    rng = np.random.default_rng(1)
    x, w, y = (rng.standard_normal(shape, np.float32) for shape in ((1, 10, 8, 6), (3, 3, 6, 4), (1, 8, 6, 4)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    expected = np.einsum("nhwcij,ijco->nhwo", windows, w) + y
    for run in (executable.run, executable.run_per_tile):
        np.testing.assert_allclose(run([x, w, y])[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("start", [0.0, -0.0])
def test_the_sign_of_a_sum_of_nothings_does_not_depend_on_the_number_of_tiles(start):
    """On the machine, what starts from -0 and adds up -0 is -0; the fast executor may make 0 of a sum of zeros."""
    text = """func.func @main(%x: tensor<4x64xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %r = linalg.reduce {arith.addf} ins(%x : tensor<4x64xf32>) outs(%y : tensor<4xf32>) dimensions = [1]
      return %r : tensor<4xf32>
    }"""
    inputs = [np.full((4, 64), -0.0, np.float32), np.full(4, start, np.float32)]
    for tiles in (1, 4, 64):
        program = ipu.compile(text, target=ipu.Target(tiles_per_ipu=tiles))
        (found,) = program.run_per_tile(inputs)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(inputs[1]))
        np.testing.assert_array_equal(program.run(inputs)[0], inputs[1])
