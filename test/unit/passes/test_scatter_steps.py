"""A scatter of many updates runs in steps where they do not all fit on a tile, and keeps their order."""

import numpy as np
import pytest

import ipu_mlir as ipu

SET = """
func.func @main(%x: tensor<40x6xf32>, %at: tensor<300xindex>, %v: tensor<300x6xf32>) -> tensor<40x6xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %columns = arith.constant 6 : index
  %updates = arith.constant 300 : index
  %r = scf.for %i = %zero to %updates step %one iter_args(%t = %x) -> tensor<40x6xf32> {
    %s = scf.for %j = %zero to %columns step %one iter_args(%u = %t) -> tensor<40x6xf32> {
      %row = tensor.extract %at[%i] : tensor<300xindex>
      %new = tensor.extract %v[%i, %j] : tensor<300x6xf32>
      %w = tensor.insert %new into %u[%row, %j] : tensor<40x6xf32>
      scf.yield %w : tensor<40x6xf32>
    }
    scf.yield %s : tensor<40x6xf32>
  }
  return %r : tensor<40x6xf32>
}"""


@pytest.mark.parametrize(("proportion", "steps"), [(0.6, 1), (0.004, 2), (0.001, 8)])
def test_later_updates_win(proportion, steps):
    target = ipu.Target(tiles_per_ipu=8)
    executable = ipu.compile(SET, target=target, available_memory_proportion=proportion)
    assert executable.mlir().count('"scatter_set_f32"') >= steps
    rng = np.random.default_rng(0)
    x, v = rng.standard_normal((40, 6), np.float32), rng.standard_normal((300, 6), np.float32)
    at = rng.integers(0, 40, 300)
    expected = x.copy()
    for row, values in zip(at, v, strict=True):
        expected[row] = values
    for run in (executable.run, executable.run_per_tile):
        np.testing.assert_array_equal(run([x, at, v])[0], expected)
