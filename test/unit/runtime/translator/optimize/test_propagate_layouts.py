"""Products stored as they are read."""

import numpy as np

M, N, K = 6, 4, 5
TEXT = f"""func.func @main(%w: memref<{M}x{N}xf32>, %x: memref<{K}x{M}xf32>, %g: memref<{K}x{N}xf32>)
  -> memref<{M}x{N}xf32> {{
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 0.5 : f32
  %t = memref.alloc() : memref<{N}x{M}xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<{N}x{M}xf32>)
  linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
    affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%g, %x : memref<{K}x{N}xf32>, memref<{K}x{M}xf32>) outs(%t : memref<{N}x{M}xf32>) {{
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }}
  %o = memref.alloc() : memref<{M}x{N}xf32>
  linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>,
    affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]}} ins(%w, %t : memref<{M}x{N}xf32>, memref<{N}x{M}xf32>)
      outs(%o : memref<{M}x{N}xf32>) {{
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %b, %rate : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  }}
  return %o : memref<{M}x{N}xf32>
}}"""


def test_a_gradient_that_is_read_transposed_is_computed_transposed(engine):
    made = engine(TEXT)
    assert "dot(arg1_6x5t, arg2, result0)" in made.source.replace("x_6x5t", "arg1_6x5t").replace(", g,", ", arg2,")
    assert made.translation.temporary_bytes == 0
    rng = np.random.default_rng(1)
    w, x, g = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((M, N), (K, M), (K, N)))
    np.testing.assert_array_equal(made.run([w, x, g])[0], w - np.float32(0.5) * (x.T @ g))


def test_a_product_that_another_one_sums_is_computed_with_its_terms_side_by_side(engine):
    made = engine("""func.func @main(%a: memref<6x5xf32>, %w: memref<3x5x4xf32>, %b: memref<6x4xf32>)
  -> memref<6x3xf32> {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<3x4x6xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<3x4x6xf32>)
  linalg.generic {indexing_maps = [affine_map<(k, j, b, i) -> (k, i, j)>, affine_map<(k, j, b, i) -> (b, i)>,
    affine_map<(k, j, b, i) -> (k, j, b)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%w, %a : memref<3x5x4xf32>, memref<6x5xf32>) outs(%t : memref<3x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  %o = memref.alloc() : memref<6x3xf32>
  linalg.fill ins(%zero : f32) outs(%o : memref<6x3xf32>)
  linalg.generic {indexing_maps = [affine_map<(b, k, j) -> (b, j)>, affine_map<(b, k, j) -> (k, j, b)>,
    affine_map<(b, k, j) -> (b, k)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%b, %t : memref<6x4xf32>, memref<3x4x6xf32>) outs(%o : memref<6x3xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return %o : memref<6x3xf32>
}""")
    assert "copyto" not in made.source
    rng = np.random.default_rng(1)
    a, w, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((6, 5), (3, 5, 4), (6, 4)))
    np.testing.assert_array_equal(made.run([a, w, b])[0], np.einsum("bi,kij,bj->bk", a, w, b))


def test_a_product_that_a_codelet_reads_stays_as_it_is(engine):
    made = engine("""func.func @main(%a: memref<3x4xf32>, %b: memref<4x5xf32>) -> memref<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<3x5xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<3x5xf32>)
  linalg.matmul ins(%a, %b : memref<3x4xf32>, memref<4x5xf32>) outs(%t : memref<3x5xf32>)
  %o = memref.alloc() : memref<3x5xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"], library_call = "sort"}
    ins(%t : memref<3x5xf32>) outs(%o : memref<3x5xf32>) {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  }
  return %o : memref<3x5xf32>
}""")
    a, b = np.arange(12, dtype="f4").reshape(3, 4), np.arange(20, 0, -1, dtype="f4").reshape(4, 5)
    np.testing.assert_array_equal(made.run([a, b])[0], np.sort(a @ b))
