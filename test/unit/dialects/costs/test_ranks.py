"""Ranks: which loops are which, and that vertices compare all or sort, whichever is faster."""

import numpy as np

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.rank import RANK, rank_cycles
from ipu_mlir.dialects.costs.classify import classify
from ipu_mlir.dialects.costs.family import cycles_of
from ipu_mlir.dialects.costs.footprint import SUPERVISOR_CODE_BYTES, code_bytes, scratch_bytes
from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

RANKS = """
func.func @f(%k: memref<2x8x3xi32>, %p: memref<8xindex>, %y: memref<2x8x3xindex>) {
  linalg.generic {indexing_maps = [affine_map<(r, i, c, j) -> (r, j, c)>, affine_map<(r, i, c, j) -> (i)>,
                                   affine_map<(r, i, c, j) -> (r, i, c)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"}
      ins(%k, %p : memref<2x8x3xi32>, memref<8xindex>) outs(%y : memref<2x8x3xindex>) {
  ^bb0(%key: i32, %place: index, %out: index):
    linalg.yield %place : index
  }
  return
}
"""
WORK = CodeletCall(
    RANK,
    dtypes=("i32", "index", "index"),
    shapes=((2, 8, 3), (8,), (2, 8, 3)),
    loops=((0, 2, 3), (1,), (0, 1, 2)),
    kept=(0, 1, 2),
    reduced=(3,),
)


def test_rows_own_elements_and_what_they_are_among():
    module = parse_module(RANKS, ipu.context())
    (op,) = [op for op in list_ops(module.operation) if is_structured(op)]
    nest = loop_nest(op)
    assert nest is not None
    assert classify(op, nest) == WORK


def test_few_own_elements_are_compared_with_all():
    """Of 1000 elements 12 own ones: each of six workers compares two with all, in 3 cycles."""
    assert rank_cycles(1, 1, 12, 1000, "f32", IPU2) == 11 + 6 * (26 + 2 * 1000 * 3)


def test_many_own_elements_are_sorted():
    """Six rows, one for each worker, of 1000 elements that are all its own."""
    assert rank_cycles(1, 6, 1000, 1000, "f32", IPU2) == 11 + 6 * (26 + 1000 * (10 * 10 + 3))


def test_cycles_and_memory_of_parts():
    sizes = np.array([[1, 12, 1, 1000], [6, 1000, 1, 1000]])
    expected = [rank_cycles(1, 1, 12, 1000, "i32", IPU2), rank_cycles(1, 6, 1000, 1000, "i32", IPU2)]
    assert cycles_of(WORK, sizes, IPU2).tolist() == expected
    assert scratch_bytes(WORK, sizes, IPU2).tolist() == [1000 * 4, 6 * 1000 * 4]
    assert code_bytes(WORK) == SUPERVISOR_CODE_BYTES + RANK.code_bytes
