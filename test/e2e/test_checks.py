"""Ops that give nothing and only check what they read."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.support.errors import RunError

_OF_TRUTHS = """linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<3x4xi1>) {
  ^bb0(%b: i1):
    cf.assert %b, "c holds"
    linalg.yield
  }"""
_IN_A_REDUCTION = _OF_TRUTHS.replace('"parallel"]', '"reduction"]')
_OF_WHAT_IS_COMPUTED = """linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<3x4xi1>) {
  ^bb0(%b: i1):
    %yes = arith.constant true
    %same = arith.cmpi eq, %b, %yes : i1
    cf.assert %same, "c holds"
    linalg.yield
  }"""
_IN_A_LOOP = f"""%zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  scf.for %i = %zero to %three step %one {{
    {_OF_TRUTHS}
  }}"""


@pytest.mark.parametrize("check", [_OF_TRUTHS, _IN_A_REDUCTION, _OF_WHAT_IS_COMPUTED, _IN_A_LOOP])
@pytest.mark.parametrize("tiles", [1, 4])
def test_op_that_only_checks(check: str, tiles: int) -> None:
    text = f"func.func @main(%c: tensor<3x4xi1>) -> tensor<3x4xi1> {{\n  {check}\n  return %c : tensor<3x4xi1>\n}}"
    exe = ipu.compile(text, target=ipu.Target(tiles_per_ipu=tiles))
    truths = np.ones((3, 4), np.bool_)
    for run in (exe.run, exe.run_per_tile):
        np.testing.assert_array_equal(run([truths])[0], truths)
        with pytest.raises(RunError, match="c holds"):
            run([truths & (np.arange(4) < 3)])
