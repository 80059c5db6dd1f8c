"""A product whose sum is split between tiles: partial products, an exchange, and their sum."""

import numpy as np
import pytest

from ipu_mlir.compilation.lowering import to_host
from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

# x is 2 x 7 and w 7 x 3; the sum over 7 = 3 + 3 + 1 lies on three tiles, then each tile has a column of the result
ALIASES = {
    "#x": "#ipu.mapping<14, [[14, 14, 1, 0]], 0, 0>",
    "#w": "#ipu.mapping<21, [[21, 21, 1, 0]], 0, 0>",
    "#xk": "#ipu.mapping<14, [[2, 2, 7, 0], [3, 7, 1, 1]], 0, 0>",
    "#wk": "#ipu.mapping<21, [[3, 7, 3, 1], [3, 3, 1, 0]], 0, 0>",
    "#p": "#ipu.mapping<18, [[1, 3, 6, 1], [6, 6, 1, 0]], 0, 0>",
    "#q": "#ipu.mapping<18, [[6, 6, 3, 0], [1, 3, 1, 1]], 0, 0>",
    "#o": "#ipu.mapping<6, [[2, 2, 3, 0], [1, 3, 1, 1]], 0, 0>",
}

PRODUCT = """func.func @main(%x: memref<2x7xf32, #x>, %w: memref<7x3xf32, #w>) -> RESULT_TYPES {
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant -0.0 : f32
  %p = memref.alloc() : memref<3x2x3xf32, #p>
  "ipu.compute_set"() ({ "ipu.vertices"() ({
    linalg.fill ins(%nothing : f32) outs(%p : memref<3x2x3xf32, #p>)
  }) {codelet = "fill_f32", parts = #ipu.parts<[[1, 3, 1], [2, 2, 0], [3, 3, 0]], 0>} : () -> () }) : () -> ()
  %xk = memref.alloc() : memref<2x7xf32, #xk>
  "ipu.exchange"(%x, %xk) : (memref<2x7xf32, #x>, memref<2x7xf32, #xk>) -> ()
  %wk = memref.alloc() : memref<7x3xf32, #wk>
  "ipu.exchange"(%w, %wk) : (memref<7x3xf32, #w>, memref<7x3xf32, #wk>) -> ()
  "ipu.compute_set"() ({ "ipu.vertices"() ({
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (k floordiv 3, m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xk, %wk : memref<2x7xf32, #xk>, memref<7x3xf32, #wk>) outs(%p : memref<3x2x3xf32, #p>)
      attrs = {ipu.partials = array<i64: 2, 3>} {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    }
  }) {codelet = "matmul_f32", parts = #ipu.parts<[[2, 2, 0], [3, 3, 0], [3, 7, 1]], 0>} : () -> () }) : () -> ()
  %q = memref.alloc() : memref<3x2x3xf32, #q>
  "ipu.exchange"(%p, %q) : (memref<3x2x3xf32, #p>, memref<3x2x3xf32, #q>) -> ()
  %o = memref.alloc() : memref<2x3xf32, #o>
  "ipu.compute_set"() ({ "ipu.vertices"() ({
    linalg.fill ins(%zero : f32) outs(%o : memref<2x3xf32, #o>)
  }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 2, 0], [1, 3, 1]], 0>} : () -> () }) : () -> ()
  "ipu.compute_set"() ({ "ipu.vertices"() ({
    linalg.generic {indexing_maps = [affine_map<(m, n, s) -> (s, m, n)>, affine_map<(m, n, s) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q : memref<3x2x3xf32, #q>) outs(%o : memref<2x3xf32, #o>) attrs = {ipu.combines = array<i64: 2, 3>} {
    ^bb0(%a: f32, %c: f32):
      %0 = arith.addf %c, %a : f32
      linalg.yield %0 : f32
    }
  }) {codelet = "reduce_f32", parts = #ipu.parts<[[2, 2, 0], [1, 3, 1], [3, 3, 0]], 0>} : () -> () }) : () -> ()
  return RESULTS
}"""


def executors(results: str, types: str) -> tuple[PerTileExecutor, Engine]:
    text = PRODUCT.replace("RESULT_TYPES", f"({types})").replace("RESULTS", f"{results} : {types}")
    for name, mapping in ALIASES.items():
        text = text.replace(f"{name}>", f"{mapping}>")
    target = "#ipu.target<{tiles_per_ipu = 3}>"
    module = parse_module(f"module attributes {{ipu.target = {target}}} {{ {text} }}", ipu.context())
    on_host = module.operation.clone()
    to_host(on_host.operation)
    return PerTileExecutor(module), Engine(on_host)


@pytest.fixture
def factors() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(-9, 10, (2, 7)).astype(np.float32), rng.integers(-9, 10, (7, 3)).astype(np.float32)


def test_both_executors_agree(factors):
    """Tile by tile the partial products are made and moved; the fast executor makes one product."""
    tiles, fast = executors("%o", "memref<2x3xf32, #o>")
    x, w = factors
    np.testing.assert_array_equal(tiles.run([x, w])[0], x @ w)
    assert len(tiles.traffic) == 3
    np.testing.assert_array_equal(fast.run([x, w])[0], x @ w)
    assert "reduce" not in fast.source and " 0 bytes of temporaries" in fast.source


def test_the_partial_products_are_those_of_the_tiles(factors):
    x, w = factors
    parts = np.stack([x[:, lo:hi] @ w[lo:hi] for lo, hi in ((0, 3), (3, 6), (6, 7))])
    for runs in executors("%o, %p", "memref<2x3xf32, #o>, memref<3x2x3xf32, #p>"):
        whole, partial = runs.run([x, w])
        np.testing.assert_array_equal(whole, x @ w)
        np.testing.assert_array_equal(partial, parts)
