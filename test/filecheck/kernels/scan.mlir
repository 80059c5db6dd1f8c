// RUN: ipu-translate --to-kernels --kernels=auto %s | filecheck %s
// RUN: ipu-translate --to-numpy --kernels=never %s | filecheck %s --check-prefix=NEVER
// Running values of sixteen results are vectors; the four points of a window are in loops inside, in their order.

// CHECK:      llvm.func internal @{{.*}}(
// CHECK:        %[[TWO:.*]] = arith.constant 2 : i64
// CHECK:        scf.for %{{.*}} {
// CHECK:          scf.for %{{.*}} to %[[TWO]]
// CHECK-NEXT:       scf.for %{{.*}} to %[[TWO]]
// CHECK:              arith.cmpf ogt, %{{.*}} : vector<16xf32>
// CHECK:              arith.select %{{.*}} : vector<16xi1>, vector<16xi64>
// CHECK:          llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK:          llvm.store %{{.*}} : vector<16xi64>, !llvm.ptr

// NEVER:      for i0 in range(2):
// NEVER:        for i1 in range(2):
#window = affine_map<(d0, d1, d2, d3, d4) -> (2 * d0 + d3, 2 * d1 + d4, d2)>
#both = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func @main(%x: memref<32x32x32xf32>) -> (memref<16x16x32xf32>, memref<16x16x32xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %nowhere = arith.constant 0 : i64
  %m = memref.alloc() : memref<16x16x32xf32>
  %p = memref.alloc() : memref<16x16x32xi64>
  %size = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%low : f32) outs(%m : memref<16x16x32xf32>)
  linalg.fill ins(%nowhere : i64) outs(%p : memref<16x16x32xi64>)
  linalg.generic {indexing_maps = [#window, #both, #out, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %size : memref<32x32x32xf32>, memref<2x2xf32>) outs(%m, %p : memref<16x16x32xf32>, memref<16x16x32xi64>) {
  ^bb0(%in: f32, %unused: f32, %max: f32, %place: i64):
    %i = linalg.index 3 : index
    %n = arith.index_cast %i : index to i64
    %is = arith.cmpf ogt, %in, %max : f32
    %0 = arith.select %is, %in, %max : f32
    %1 = arith.select %is, %n, %place : i64
    linalg.yield %0, %1 : f32, i64
  }
  return %m, %p : memref<16x16x32xf32>, memref<16x16x32xi64>
}
