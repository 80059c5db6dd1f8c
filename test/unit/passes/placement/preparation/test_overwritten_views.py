"""Slices that are read after their tensor was updated keep what they showed."""

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.pipelines import PIPELINES
from ipu_mlir.passes.placement.preparation.overwritten_views import is_overwritten
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

REGISTRY = Registry(PASSES, PIPELINES)
START = """
func.func @main(%x: tensor<4xf32>, %new: tensor<1xf32>, %flags: tensor<i1>) -> (tensor<4xf32>, tensor<2xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %flag = tensor.extract %flags[] : tensor<i1>
  %y = math.absf %x : tensor<4xf32>
  %s = tensor.extract_slice %y[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
"""
INSERT = "tensor.insert_slice %new into {}[1] [1] [1] : tensor<1xf32> into tensor<4xf32>"
END = "\n  return %z, %t : tensor<4xf32>, tensor<2xf32>\n}"
PROGRAMS = {
    "read after": (f"%z = {INSERT.format('%y')}\n  %t = arith.addf %s, %s : tensor<2xf32>", True),
    "read before": (f"%t = arith.addf %s, %s : tensor<2xf32>\n  %z = {INSERT.format('%y')}", False),
    "updated through a reshape": (
        """%v = tensor.expand_shape %y [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %n = tensor.expand_shape %new [[0, 1]] output_shape [1, 1] : tensor<1xf32> into tensor<1x1xf32>
  %w = tensor.insert_slice %n into %v[0, 1] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<2x2xf32>
  %z = tensor.collapse_shape %w [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %t = arith.addf %s, %s : tensor<2xf32>""",
        True,
    ),
    "updated in a branch": (
        f"""%z = scf.if %flag -> tensor<4xf32> {{
    %w = {INSERT.format("%y")}
    scf.yield %w : tensor<4xf32>
  }} else {{
    scf.yield %y : tensor<4xf32>
  }}
  %t = arith.addf %s, %s : tensor<2xf32>""",
        True,
    ),
    "updated in a loop": (
        f"""%z = scf.for %i = %zero to %two step %one iter_args(%c = %y) -> tensor<4xf32> {{
    %w = {INSERT.format("%c")}
    scf.yield %w : tensor<4xf32>
  }}
  %t = arith.addf %s, %s : tensor<2xf32>""",
        True,
    ),
    "inserted into its own tensor": (
        """%z = tensor.insert_slice %s into %y[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %t = tensor.extract_slice %z[0] [2] [1] : tensor<4xf32> to tensor<2xf32>""",
        True,
    ),
}


def program(name):
    return f"{START}  {PROGRAMS[name][0]}{END}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_slice_is_known_to_be_overwritten(name):
    module = parse_module(program(name), ipu.context(), "t.mlir")
    first = next(op for op in list_ops(module.operation) if op.name == "tensor.extract_slice")
    assert is_overwritten(first) == PROGRAMS[name][1]


@pytest.mark.parametrize("tiles", [1, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name, tiles):
    module = parse_module(program(name), ipu.context(), "t.mlir")
    run_steps(module, REGISTRY.resolve(f"ipu-set-target{{tiles={tiles}}},ipu-compile"))
    x, new = np.array([-1, 2, -3, 4], np.float32), np.array([9], np.float32)
    z, t = PerTileExecutor(module).run([x, new, np.array(True)])
    expected = ([2, 3, 3, 4], [2, 3]) if name == "inserted into its own tensor" else ([1, 9, 3, 4], [4, 6])
    np.testing.assert_array_equal(z, expected[0])
    np.testing.assert_array_equal(t, expected[1])
