// RUN: ipu-translate --to-numpy %s | filecheck %s
// A sum of products is a contraction, the largest element a ufunc over a whole axis, anything else a scan.

// CHECK:      dot(arg0, arg1, result0)
// CHECK:      maximum.reduce(arg0, 1,
// CHECK:      for i0 in range(5):
// CHECK:        sin(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%a: memref<4x5xf32>, %b: memref<5x6xf32>) -> (memref<4x6xf32>, memref<4xf32>, memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c = memref.alloc() : memref<4x6xf32>
  %m = memref.alloc() : memref<4xf32>
  %p = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  linalg.matmul ins(%a, %b : memref<4x5xf32>, memref<5x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.fill ins(%low : f32) outs(%m : memref<4xf32>)
  linalg.reduce {arith.maximumf} ins(%a : memref<4x5xf32>) outs(%m : memref<4xf32>) dimensions = [1]
  linalg.fill ins(%one : f32) outs(%p : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<4x5xf32>) outs(%p : memref<4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = math.sin %old : f32
    %1 = arith.mulf %0, %in : f32
    linalg.yield %1 : f32
  }
  return %c, %m, %p : memref<4x6xf32>, memref<4xf32>, memref<4xf32>
}
