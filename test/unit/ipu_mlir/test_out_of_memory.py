"""A program that does not fit: an error that says why, or a warning if the machine is emulated."""

from pathlib import Path

import numpy as np
import pytest

import ipu_mlir as ipu

MATMUL = """
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>)
    -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
"""


def small(**fields: bool) -> ipu.Target:
    return ipu.Target(tiles_per_ipu=4, bytes_per_tile=12_000, **fields)


def test_the_error_names_tile_step_and_bytes_and_carries_the_report() -> None:
    with pytest.raises(ipu.OutOfMemoryError, match=r"<text>:\d+:\d+: error: .* B on tile \d") as raised:
        ipu.compile(MATMUL, target=small())
    error = raised.value
    assert isinstance(error, ipu.CompileError)
    assert error.entry == "main" and not error.report.fits
    (problem,) = error.problems
    assert problem.over_bytes == error.report.peak.largest() - 12_000
    assert [variable.name for variable, _ in problem.largest]
    assert "ipu.compute_set" in error.module_text and "loc(" in error.module_text


def test_the_text_of_the_error_compiles_for_a_larger_machine() -> None:
    with pytest.raises(ipu.OutOfMemoryError) as raised:
        ipu.compile(MATMUL, target=small())
    enough = ipu.Target(tiles_per_ipu=4)
    executable = ipu.compile(raised.value.module_text, target=enough)
    ones = np.ones((64, 64), np.float32)
    assert (executable.run([ones, ones])[0] == 64).all()


def test_an_emulated_machine_only_warns() -> None:
    with pytest.warns(ipu.MemoryWarning, match=r"<text>:\d+:\d+: warning: .* B too much"):
        executable = ipu.compile(MATMUL, target=small(emulated=True))
    ones = np.ones((64, 64), np.float32)
    assert (executable.run([ones, ones])[0] == 64).all()


def test_operands_are_brought_in_smaller_pieces_where_a_table_fills_a_tile():
    """On 64 tiles, a column of the table takes 400,000 bytes: updates come to all tiles in what these have left."""
    workload = Path(__file__).parents[3] / "benchmarks" / "workloads" / "embedding_update.mlir"
    memory = ipu.compile(workload).profile().compilation.memory
    assert memory.worst_bytes <= memory.limit
