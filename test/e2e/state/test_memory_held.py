"""What the compiler reckons that buffers take on every tile at most is what the per-tile executor holds at its peak."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from cases import comparisons_and_casts, contractions, elementwise, float_ops, integer_ops, reductions, views
from support.corpus import programs

import ipu_mlir as ipu
from ipu_mlir.dialects.ipu import context
from ipu_mlir.dialects.memory.bound import memory_bound
from ipu_mlir.dialects.memory.report import MemoryReport, memory_report
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

TABLES = (elementwise, contractions, reductions, views, float_ops, integer_ops, comparisons_and_casts)
TARGET = ipu.Target(tiles_per_ipu=16)
LOOPS_AND_GATHERS = {
    "loop": (
        """
        func.func @main(%x: tensor<5x13xf32>) -> tensor<5x13xf32> {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c3 = arith.constant 3 : index
          %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<5x13xf32>) {
            %e = tensor.empty() : tensor<5x13xf32>
            %s = linalg.add ins(%a, %x : tensor<5x13xf32>, tensor<5x13xf32>) outs(%e : tensor<5x13xf32>)
              -> tensor<5x13xf32>
            %m = linalg.mul ins(%s, %a : tensor<5x13xf32>, tensor<5x13xf32>) outs(%e : tensor<5x13xf32>)
              -> tensor<5x13xf32>
            scf.yield %m : tensor<5x13xf32>
          }
          return %y : tensor<5x13xf32>
        }
        """,
        [np.ones((5, 13), np.float32)],
    ),
    "gather": (
        """
        func.func @main(%table: tensor<40x3xf32>, %rows: tensor<7xi32>) -> tensor<7x3xf32> {
          %e = tensor.empty() : tensor<7x3xf32>
          %y = linalg.generic {
            indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]
          } ins(%rows : tensor<7xi32>) outs(%e : tensor<7x3xf32>) {
          ^bb0(%row: i32, %out: f32):
            %j = linalg.index 1 : index
            %i = arith.index_cast %row : i32 to index
            %v = tensor.extract %table[%i, %j] : tensor<40x3xf32>
            linalg.yield %v : f32
          } -> tensor<7x3xf32>
          return %y : tensor<7x3xf32>
        }
        """,
        [np.ones((40, 3), np.float32), np.arange(7, dtype=np.int32)],
    ),
}


def reckoned_and_held(source: Any, inputs: Sequence[np.ndarray]) -> tuple[MemoryReport, int, np.ndarray]:
    """The report, the quick bound, and the most that any tile held in a run, shape ``(num_tiles,)``."""
    text = ipu.compile(source, target=TARGET).mlir()
    with context():
        module = ir.Module.parse(text)
        executor = PerTileExecutor(module)
        executor.run(inputs)
        report, bound = memory_report(module), memory_bound(module)
    held = [step.per_tile for step in executor.memory_held()]
    return report, bound, np.max(held, axis=0) if held else np.zeros(TARGET.num_tiles, np.int64)


def check(source: Any, inputs: Sequence[np.ndarray]) -> None:
    report, bound, held = reckoned_and_held(source, inputs)
    if report.steps:
        np.testing.assert_array_equal(report.data_peak.dense(), held)
    assert bound >= report.peak.largest()
    np.testing.assert_array_equal(sum(x.dense() for x in report.categories.values()), report.peak.dense())


@pytest.mark.parametrize("name", list(programs()))
def test_programs_of_frameworks(name: str) -> None:
    check(programs()[name].mlir, programs()[name].inputs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__.rpartition(".")[2])
def test_small_programs(table: Any, step: int) -> None:
    for case in table.CASES[::step]:
        check(case.text, case.inputs)


@pytest.mark.parametrize("name", LOOPS_AND_GATHERS)
def test_loops_and_gathers(name: str) -> None:
    check(*LOOPS_AND_GATHERS[name])
