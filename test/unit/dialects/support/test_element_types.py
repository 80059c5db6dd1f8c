"""Rows of element types, and that one more row is all that a new type needs."""

import subprocess
import sys

import pytest

from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES, element_type
from ipu_mlir.dialects.support.errors import CompileError

SIX_BITS = '''
import numpy as np
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES, ElementType

ELEMENT_TYPES["f6E3M2FN"] = ElementType("f6E3M2FN", 6, "float6_e3m2fn", "f8")

import ipu_mlir
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

PROGRAM = """
func.func @main(%x: tensor<5xf6E3M2FN>, %y: tensor<5xf6E3M2FN>) -> tensor<5xf6E3M2FN> {
  %empty = tensor.empty() : tensor<5xf6E3M2FN>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
      ins(%x, %y : tensor<5xf6E3M2FN>, tensor<5xf6E3M2FN>) outs(%empty : tensor<5xf6E3M2FN>) {
  ^bb0(%a: f6E3M2FN, %b: f6E3M2FN, %old: f6E3M2FN):
    %c = arith.addf %a, %b : f6E3M2FN
    linalg.yield %c : f6E3M2FN
  } -> tensor<5xf6E3M2FN>
  return %sum : tensor<5xf6E3M2FN>
}
"""
dtype = ELEMENT_TYPES["f6E3M2FN"].dtype
x, y = np.array([1, 1.25, 5, -28, 0.0625], dtype), np.array([0.1875, 1.25, 0.5, -28, 0], dtype)
exact = x.astype(np.float64) + y.astype(np.float64)
for tiles in (1, 3):
    exe = ipu_mlir.compile(PROGRAM, target=ipu_mlir.Target(name="ipu2", ipus=1, tiles_per_ipu=tiles))
    fast, slow = exe.run([x, y]), PerTileExecutor(exe.module()).run([x, y])
    for found in (fast, slow):
        (found,) = found
        assert found.dtype == dtype, found.dtype
        assert found.astype(np.float64).tolist() == exact.astype(dtype).astype(np.float64).tolist(), found
    assert exe.profile().execution.cycles.compute > 0
'''


@pytest.mark.parametrize(("name", "size"), [("i1", 1), ("i4", 1), ("i12", 2), ("i64", 8), ("bf16", 2), ("f8E5M2", 1)])
def test_bytes(name: str, size: int) -> None:
    assert element_type(name).bytes == size


@pytest.mark.parametrize("name", ["tf32", "f128", "complex<f32>", "i", ""])
def test_a_type_without_a_row_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(CompileError, match=f"elements of type {name} are not known; they can be f64, f32"):
        element_type(name)


@pytest.mark.parametrize("row", ELEMENT_TYPES.values(), ids=lambda row: row.name)
def test_the_host_has_arrays_of_every_type_as_wide_as_on_a_tile(row) -> None:
    assert row.dtype.itemsize == row.bytes
    assert row.is_float == (row.dtype.kind in "fV")


def test_a_new_type_is_one_row() -> None:
    """With a row for it, a type compiles, runs on both executors with its own rounding, and has costs."""
    subprocess.run([sys.executable, "-c", SIX_BITS], check=True)
