"""Calls of library codelets that come with the program: what their bodies say is not their meaning."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

SORTED = """
func.func @main(%x: tensor<{n}x{m}xf32>, %y: tensor<{m}x{n}xf32>) -> tensor<{n}x{m}xf32> {{
  %e = tensor.empty() : tensor<{n}x{m}xf32>
  %t = linalg.transpose ins(%y : tensor<{m}x{n}xf32>) outs(%e : tensor<{n}x{m}xf32>) permutation = [1, 0]
  %a = arith.addf %x, %t : tensor<{n}x{m}xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                        iterator_types = ["parallel", "reduction"], library_call = "sort"}}
      ins(%a : tensor<{n}x{m}xf32>) outs(%e : tensor<{n}x{m}xf32>) {{
  ^bb0(%u: f32, %o: f32):
    linalg.yield %u : f32
  }} -> tensor<{n}x{m}xf32>
  %z = arith.mulf %s, %s : tensor<{n}x{m}xf32>
  return %z : tensor<{n}x{m}xf32>
}}"""


@pytest.mark.parametrize(("n", "m"), [(5, 3), (1, 4), (4, 1), (1, 1)])
def test_a_call_between_elementwise_ops_reads_all_and_keeps_its_shape(n, m):
    exe = ipu.compile(SORTED.format(n=n, m=m), target=ipu.Target(tiles_per_ipu=4))
    rng = np.random.default_rng(n)
    x, y = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((n, m), (m, n)))
    for (found,) in (exe.run([x, y]), PerTileExecutor(exe.module()).run([x, y])):
        np.testing.assert_array_equal(found, np.sort(x + y.T, 1) ** 2)
