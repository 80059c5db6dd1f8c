// RUN: ipu-translate --to-kernels --kernels=always %s | filecheck %s
// RUN: ipu-translate --to-numpy --kernels=always %s | filecheck %s --check-prefix=NUMPY
// RUN: ipu-translate --to-numpy --kernels=never %s | filecheck %s --check-prefix=NEVER
// A product of large matrices: panels of one factor are packed, tiles of the result are registers. Another product of
// the same type, whose factor lies by columns, is the same function.

// CHECK-LABEL: llvm.func internal @f32_tile(
// CHECK:         llvm.intr.prefetch
// CHECK:         scf.for
// CHECK:           %[[B:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// CHECK:           %[[A:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:           math.fma %[[A]], %{{.*}} : vector<16xf32>
// CHECK:         } {loop_annotation
// CHECK:         llvm.intr.masked.store
// CHECK-LABEL: llvm.func internal @f32_panel(
// CHECK:         llvm.intr.masked.load
// CHECK:         vector.shuffle
// CHECK-LABEL: llvm.func internal @f32_product(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             llvm.call @f32_panel(
// CHECK:             llvm.call @f32_tile(
// CHECK-LABEL: llvm.func @product0(
// CHECK:         llvm.call @f32_product(
// CHECK-NOT:   llvm.func @product
// CHECK:       llvm.func @table(

// NUMPY-NOT:   dot(
// NUMPY:       product0.run(
// NUMPY:       product0.run(

// NEVER-COUNT-2: dot(
#row = affine_map<(d0, d1, d2) -> (d0, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%a: memref<150x140xf32>, %b: memref<140x170xf32>, %c: memref<160x170xf32>) -> memref<150x160xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<150x170xf32>
  %z = memref.alloc() : memref<150x160xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<150x170xf32>)
  linalg.matmul ins(%a, %b : memref<150x140xf32>, memref<140x170xf32>) outs(%y : memref<150x170xf32>)
  linalg.fill ins(%zero : f32) outs(%z : memref<150x160xf32>)
  linalg.matmul indexing_maps = [#row, #turned, #out]
      ins(%y, %c : memref<150x170xf32>, memref<160x170xf32>) outs(%z : memref<150x160xf32>)
  return %z : memref<150x160xf32>
}
