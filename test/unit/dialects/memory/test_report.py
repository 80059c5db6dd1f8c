"""What a small program needs of two tiles: by category, by step, by variable, and what is wrong if it does not fit."""

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.program.build_program import program_tree
from ipu_mlir.dialects.analysis.program.tree import steps
from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.dialects.memory.bound import memory_bound
from ipu_mlir.dialects.memory.exchange_code import Order, order_of
from ipu_mlir.dialects.memory.per_tile import PerTile, total_of
from ipu_mlir.dialects.memory.problems import memory_problems
from ipu_mlir.dialects.memory.report import MemoryReport, memory_report
from ipu_mlir.dialects.support.parsing import parse_module

PROGRAM = """
#both = #ipu.mapping<10, [[5, 10, 1, 1]], 0, 0>
#one = #ipu.mapping<10, [[10, 10, 1, 0]], 0, 1>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, bytes_per_tile = BYTES, emulated = true}>} {
  memref.global constant @ones : memref<10xf32, #both> = dense<1.0>
  memref.global constant @unused : memref<10xf32, #both> = dense<2.0>
  func.func @main(%x: memref<10xf32, #both> loc("image")) -> memref<10xf32, #one> {
    %g = memref.get_global @ones : memref<10xf32, #both>
    %s = memref.alloc() : memref<10xf32, #both>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.add ins(%x, %g : memref<10xf32, #both>, memref<10xf32, #both>) outs(%s : memref<10xf32, #both>)
      }) {codelet = "add_f32", parts = #ipu.parts<[[5, 10, 1]], 0>} : () -> ()
    }) : () -> ()
    %y = memref.alloc() : memref<10xf32, #one>
    "ipu.exchange"(%s, %y) : (memref<10xf32, #both>, memref<10xf32, #one>) -> ()
    return %y : memref<10xf32, #one>
  }
}
"""


def report(bytes_per_tile: int = 10_000) -> MemoryReport:
    return memory_report(parse_module(PROGRAM.replace("BYTES", str(bytes_per_tile)), ipu.context(), "p.mlir"))


def test_categories_add_up_to_the_peak() -> None:
    found = report()
    data = {name: found.categories[name].dense().tolist() for name in ("arguments", "constants", "temporaries")}
    assert data == {"arguments": [20, 20], "constants": [20, 20], "temporaries": [20, 20]}
    assert found.categories["results"].dense().tolist() == [0, 40]
    assert found.categories["gaps"].dense().tolist() == [12, 12]  # 20 B take 24, 40 B have no gap
    assert found.categories["control_code"].dense().tolist() == [64, 64]  # 8 instructions of each of two steps
    assert found.categories["exchange_code"].dense().tolist() == [28, 32]  # one piece out, one piece in
    total = sum(each.dense() for each in found.categories.values())
    assert (total == found.peak.dense()).all()
    assert (found.without_gaps.dense() == total - 12).all()
    assert found.data_peak.dense().tolist() == [60, 100]
    assert found.peak.worst_tile() == 1 and found.peak_step.dense().tolist() == [0, 1]
    assert memory_bound(found.tree.block.owner.parent) >= found.peak.largest()


def test_steps_say_what_lives_during_each() -> None:
    steps, always = report().steps, report().always_live
    assert steps[0].live_bytes_worst == always.on(1) + 24
    assert steps[1].live_bytes_worst == always.on(1) + 24 + 40
    assert steps[1].live_bytes_total == always.total() + 2 * 24 + 40
    assert steps[1].worst_tile == 1


def test_variables_have_names_places_and_lifetimes() -> None:
    found = [(x.name, x.category, x.type_text, x.first_step, x.last_step) for x in report().variables]
    assert found == [
        ("%image", "argument", "tensor<10xf32>", None, None),
        ("@ones", "constant", "tensor<10xf32>", None, None),
        ("linalg.add at p.mlir:12:9", "temporary", "tensor<10xf32>", 0, 1),
        ("linalg.add exchanged at p.mlir:16:5", "result", "tensor<10xf32>", 1, 1),
    ]
    assert [x.location for x in report().variables[2:]] == ["p.mlir:12:9", "p.mlir:16:5"]


def test_the_largest_on_a_tile_come_first() -> None:
    found = [(each.name.partition(" at ")[0], size) for each, size in report().live_on(1)]
    assert found == [("linalg.add exchanged", 40), ("%image", 20), ("@ones", 20), ("linalg.add", 20)]


@pytest.mark.parametrize("kind,step", [("code", None), ("tiles", 1), ("one_tile", 1)])
def test_what_does_not_fit_is_told_apart(kind: str, step: int | None) -> None:
    found = report()
    code = sum(found.categories[name].on(1) for name in ("vertex_code", "vertex_state", "exchange_code"))
    base = code + found.categories["control_code"].on(1)
    peaks = found.peak.dense()
    limits = {"code": base - 1, "tiles": int(peaks.min()) - 1, "one_tile": int(peaks.max()) - 1}
    (problem,) = memory_problems(report(limits[kind]))
    assert (problem.kind, problem.tile, problem.step) == (kind, 1, step)
    assert problem.over_bytes == peaks.max() - limits[kind]
    assert f"{problem.over_bytes:,} B too much" in problem.message and problem.tries
    assert memory_problems(report(int(peaks.max()))) == ()


def test_numbers_of_tiles_in_runs() -> None:
    dense = np.array([3, 3, 0, 7, 7, 7])
    found = PerTile.of(dense)
    assert found.runs() == [(3, 2), (0, 1), (7, 3)]
    assert (found.dense() == dense).all()
    assert (found.total(), found.largest(), found.worst_tile(), found.on(2)) == (27, 7, 3, 0)
    assert (found.count_over(2), found.count_over(3)) == (5, 3)
    other = PerTile.at(np.array([5, 0]), np.array([1, -3]), 6)
    assert total_of([found, other, found], 6).dense().tolist() == [3, 6, 0, 14, 14, 15]
    assert total_of([], 2).runs() == [(0, 2)]


MULTIPLIED = """
#rows = #ipu.mapping<4096, [[2048, 4096, 1, 1]], 0, 0>
#both = #ipu.mapping<4096, [[4096, 4096, 1, 0], [1, 2, 0, 1]], 0, 0>
#columns = #ipu.mapping<4096, [[64, 64, 64, 0], [32, 64, 1, 1]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2}>} {
  func.func @main(%x: memref<64x64xf16, #rows>, %z: memref<64x64xf16, #columns>) {
    %s = memref.alloc() : memref<64x64xf16, #both>
    "ipu.exchange"(%x, %s) : (memref<64x64xf16, #rows>, memref<64x64xf16, #both>) -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.OP ins(%s, %s : memref<64x64xf16, #both>, memref<64x64xf16, #both>)
          outs(%z : memref<64x64xf16, #columns>)
      }) {codelet = "OP_f16", parts = #ipu.parts<[[64, 64, 0], [32, 64, 1]LAST], 0>} : () -> ()
    }) : () -> ()
    return
  }
}
"""


@pytest.mark.parametrize("op,order", [("matmul", Order(16, source_too=True)), ("add", None)])
def test_what_only_amp_reads_lies_in_groups_of_channels(op: str, order: Order | None) -> None:
    text = MULTIPLIED.replace("OP", op).replace("LAST", ", [64, 64, 0]" if op == "matmul" else "")
    module = parse_module(text, ipu.context())
    (exchange,) = [each.op for each in steps(program_tree(module)) if each.kind == "exchange"]
    assert order_of(exchange, IPU2) == order
