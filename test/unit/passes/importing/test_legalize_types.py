"""Programs of 64-bit numbers run in 32 bits."""

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.core.registry import by_name
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

REGISTRY = Registry(by_name(PASSES), PIPELINES)
PROGRAM = """
func.func @main(%x: tensor<6xf64>, %at: tensor<3xi64>) -> (tensor<3xf64>, tensor<3xi64>) {
  %one = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
  %half = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<3xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : tensor<3xi64>) outs(%e : tensor<3xf64>) {
  ^bb0(%i: i64, %o: f64):
    %j = arith.index_cast %i : i64 to index
    %v = tensor.extract %x[%j] : tensor<6xf64>
    %r = arith.mulf %v, %half : f64
    linalg.yield %r : f64
  } -> tensor<3xf64>
  %s = arith.addi %at, %one : tensor<3xi64>
  return %y, %s : tensor<3xf64>, tensor<3xi64>
}
"""


@pytest.mark.parametrize("tiles", [1, 4])
def test_legalised_program_gives_the_same_values(tiles):
    module = parse_module(PROGRAM, ipu.context())
    run_steps(module, REGISTRY.resolve(f"ipu-set-target{{tiles={tiles}}},ipu-legalize-types,ipu-compile"))
    x, at = np.array([2, 4, 6, 8, 10, 12], np.float32), np.array([5, 0, 2], np.int32)
    y, s = PerTileExecutor(module).run([x, at])
    assert (y.dtype, s.dtype) == (np.float32, np.int32)
    np.testing.assert_array_equal(y, [6, 1, 3])
    np.testing.assert_array_equal(s, [6, 2, 5])


def test_second_run_changes_nothing():
    module = parse_module(PROGRAM, ipu.context())
    run_steps(module, REGISTRY.resolve("ipu-legalize-types"))
    once = str(module)
    run_steps(module, REGISTRY.resolve("ipu-legalize-types"))
    assert str(module) == once
    assert "xf64>" not in once and "xi64>" not in once
