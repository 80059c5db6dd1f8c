"""What ops read, write and are held by."""

from collections.abc import Callable

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

TEXT = """
#home = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#away = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 1>
#one = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>
#vector = affine_map<(i) -> (i)>
func.func @f(%a: memref<4xf32, #home>, %flag: memref<i1, #one>) -> memref<4xf32, #home> {
  %b = memref.alloc() : memref<4xf32, #home>
  %c = memref.alloc() : memref<4xf32, #away>
  %wait = "ipu.read_control"(%flag) : (memref<i1, #one>) -> i1
  cf.assert %wait, "go on"
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
          ins(%a, %a : memref<4xf32, #home>, memref<4xf32, #home>) outs(%b : memref<4xf32, #home>) {
      ^bb0(%x: f32, %unread: f32, %old: f32):
        %y = arith.addf %x, %old : f32
        linalg.yield %y : f32
      }
    }) {codelet = "add", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  "ipu.exchange"(%b, %c) : (memref<4xf32, #home>, memref<4xf32, #away>) -> ()
  return %b : memref<4xf32, #home>
}
"""


@pytest.fixture
def op() -> Callable[[str], ir.Operation]:
    module = parse_module(TEXT, ipu.context())
    return lambda name: list_ops(module.operation, name)[0]


def test_memory_is_what_ops_read_and_write(op: Callable[[str], ir.Operation]) -> None:
    a, flag = op("func.func").regions[0].blocks[0].arguments
    b, c = op("ipu.exchange").operands
    touched = {"ipu.vertices": [(a, False), (b, False), (b, True)], "ipu.exchange": [(b, False), (c, True)]}
    touched |= {"ipu.compute_set": touched["ipu.vertices"], "ipu.read_control": [(flag, False)], "memref.alloc": []}
    for name, expected in touched.items():
        effects = effects_of(op(name))
        assert effects is not None and list(effects.touches(op(name))) == expected


def test_what_waits_for_others_or_has_an_order_is_not_moved(op: Callable[[str], ir.Operation]) -> None:
    free = {name: effects_of(op(name)) for name in ("ipu.read_control", "cf.assert", "ipu.exchange", "memref.alloc")}
    assert [each is not None and each.is_free_to_move for each in free.values()] == [False, False, True, True]


def test_of_an_op_that_nobody_describes_nothing_is_known(op: Callable[[str], ir.Operation]) -> None:
    assert effects_of(op("func.func")) is None
