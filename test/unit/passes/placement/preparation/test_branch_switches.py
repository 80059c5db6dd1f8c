"""A switch may give a tensor from outside of it, which somebody else changes later."""

import numpy as np
import pytest

import ipu_mlir as ipu

PROGRAM = """
func.func @main(%x: tensor<2xf32>, %s: tensor<1xf32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  %t = linalg.exp ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %i = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %i : i32 to index
  %v = scf.index_switch %k -> tensor<2xf32>
  case 0 {
    %w = arith.addf %t, %t : tensor<2xf32>
    scf.yield %w : tensor<2xf32>
  }
  default {
    scf.yield %t : tensor<2xf32>
  }
  %u = tensor.insert_slice %s into %t[0] [1] [1] : tensor<1xf32> into tensor<2xf32>
  return %v, %u : tensor<2xf32>, tensor<2xf32>
}"""


@pytest.mark.parametrize("number", [0, 1])
def test_what_a_switch_hands_on_does_not_change(number):
    executable = ipu.compile(PROGRAM, target=ipu.Target(tiles_per_ipu=4))
    x, s = np.array([1, 2], np.float32), np.array([9], np.float32)
    expected = 2 * np.exp(x) if number == 0 else np.exp(x)
    for run in (executable.run, executable.run_per_tile):
        chosen, changed = run([x, s, np.array(number, np.int32)])
        np.testing.assert_allclose(chosen, expected, rtol=1e-6)
        np.testing.assert_allclose(changed, [9, np.exp(x)[1]], rtol=1e-6)


CHOICE = """
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %n: tensor<i32>) -> tensor<2xf32> {
  %i = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %i : i32 to index
  %v = scf.index_switch %k -> tensor<2xf32>
  case 4 {
    scf.yield %x : tensor<2xf32>
  }
  default {
    scf.yield %y : tensor<2xf32>
  }
  return %v : tensor<2xf32>
}"""


@pytest.mark.parametrize("number", [4, 5])
def test_a_switch_that_only_chooses(number):
    executable = ipu.compile(CHOICE, target=ipu.Target(tiles_per_ipu=4))
    x, y = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    for run in (executable.run, executable.run_per_tile):
        np.testing.assert_array_equal(run([x, y, np.array(number, np.int32)])[0], x if number == 4 else y)
