"""Supersteps with a function that is called twice, once in a loop: functions of frontends are inlined, ours are not."""

import numpy as np
from support.damage.mutant_runs import Subject

_MODULE = """\
#home = #ipu.mapping<12, [[2, 12, 1, 1]], 0, 0>
#whole = #ipu.mapping<12, [[12, 12, 1, 0], [1, 6, 0, 1]], 0, 0>
#parts = #ipu.parts<[[2, 12, 1]], 0>
#same = affine_map<(i) -> (i)>
#reversed = affine_map<(i) -> (11 - i)>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 6}>} {
func.func private @mirrored(%x: memref<12xf32, #home>, %y: memref<12xf32, #whole>) -> memref<12xf32, #home> {
  %sum = memref.alloc() : memref<12xf32, #home>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [#same, #reversed, #same], iterator_types = ["parallel"]}
          ins(%x, %y : memref<12xf32, #home>, memref<12xf32, #whole>) outs(%sum : memref<12xf32, #home>) {
      ^bb0(%a: f32, %b: f32, %old: f32):
        %c = arith.subf %a, %b : f32
        linalg.yield %c : f32
      }
    }) {codelet = "sub_f32", parts = #parts} : () -> ()
  }) : () -> ()
  return %sum : memref<12xf32, #home>
}
func.func @main(%x: memref<12xf32, #home>) -> memref<12xf32, #home> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %copy = memref.alloc() : memref<12xf32, #whole>
  "ipu.exchange"(%x, %copy) : (memref<12xf32, #home>, memref<12xf32, #whole>) -> ()
  %y = func.call @mirrored(%x, %copy) : (memref<12xf32, #home>, memref<12xf32, #whole>) -> memref<12xf32, #home>
  %r = scf.for %i = %zero to %three step %one iter_args(%t = %y) -> (memref<12xf32, #home>) {
    %again = memref.alloc() : memref<12xf32, #whole>
    "ipu.exchange"(%t, %again) : (memref<12xf32, #home>, memref<12xf32, #whole>) -> ()
    %z = func.call @mirrored(%t, %again) : (memref<12xf32, #home>, memref<12xf32, #whole>) -> memref<12xf32, #home>
    scf.yield %z : memref<12xf32, #home>
  }
  return %r : memref<12xf32, #home>
}
}
"""


def _expected(x: np.ndarray) -> np.ndarray:
    for _ in range(4):
        x = x - x[::-1]
    return x


_X = np.arange(12, dtype=np.float32)
CALL = Subject(_MODULE, [_X], [_expected(_X)], atol=(0.0,))
