"""Programs with sizes that are known only when they are called."""

import numpy as np
import pytest

import ipu_mlir as ipu

DENSE = """
func.func @main(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) -> tensor<?x3xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x3xf32>) outs(%f : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""
TWO = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.addf %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
"""
SMALL = ipu.Target(tiles_per_ipu=4)


def random(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("rows", [1, 5, 9])
def test_program_runs_for_every_size(rows):
    program = ipu.compile(DENSE, target=SMALL)
    x, w = random(rows, 4), random(4, 3)
    np.testing.assert_allclose(program(x, w), x @ w, rtol=1e-5)
    np.testing.assert_allclose(program.run_per_tile([x, w])[0], x @ w, rtol=1e-5)


def test_program_is_compiled_once_per_size():
    program = ipu.compile(DENSE, target=SMALL)
    w = random(4, 3)
    five, again, two = (program.specialized([random(rows, 4), w]) for rows in (5, 5, 2))
    assert five is again
    assert five is not two
    assert five.result_specs == (ipu.TensorSpec((5, 3)),)


def test_size_that_the_type_fixes_is_checked():
    with pytest.raises(ipu.RunError, match=r"argument 0 has size 5 in dimension 1, expected 4: tensor<\?x4xf32>"):
        ipu.compile(DENSE, target=SMALL)(random(3, 5), random(4, 3))


def test_rank_is_checked():
    with pytest.raises(ipu.RunError, match="argument 0 has 1 dimensions, expected 2"):
        ipu.compile(DENSE, target=SMALL)(random(4), random(4, 3))


def test_number_of_arguments_is_checked():
    with pytest.raises(ipu.RunError, match="main takes 2 arguments, got 1"):
        ipu.compile(DENSE, target=SMALL)(random(3, 4))


def test_sizes_that_disagree_are_refused():
    with pytest.raises(ipu.CompileError, match="argument 0, dimension 0: 3; argument 1, dimension 0: 4"):
        ipu.compile(TWO, target=SMALL)(random(3), random(4))
