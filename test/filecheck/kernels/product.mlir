// RUN: ipu-translate --to-kernels --kernels=auto %s | filecheck %s
// RUN: ipu-translate --to-numpy --kernels=auto %s | filecheck %s --check-prefix=NUMPY
// RUN: ipu-translate --to-numpy --kernels=never %s | filecheck %s --check-prefix=NEVER
// A convolution reads its windows where they lie: of each term, a vector of the weights and one number per row. The ten
// columns of the product of matrices are some lanes of one vector.

// CHECK:      llvm.func @loop0(
// CHECK:        %[[COUNT:.*]] = arith.constant 3 : i64
// CHECK:        scf.for %{{.*}} to %[[COUNT]]
// CHECK:          %[[W:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// CHECK:          %[[WIDE:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:          math.fma %[[WIDE]], %[[W]], %{{.*}} : vector<16xf32>
// CHECK:          math.fma %{{.*}}, %[[W]], %{{.*}} : vector<16xf32>
// CHECK:        } {loop_annotation
// CHECK:        llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK:        %[[SOME:.*]] = arith.cmpi slt, %{{.*}} : vector<16xi64>
// CHECK:        llvm.intr.masked.load %{{.*}}, %[[SOME]], %{{.*}} -> vector<16xf32>
// CHECK:        llvm.intr.masked.store %{{.*}}, %[[SOME]]

// NUMPY-NOT:  dot(
// NUMPY:      loop0.run(

// NEVER:      dot(
#window = affine_map<(d0, d1, d2) -> (d0 + d2)>
#weights = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%k: memref<3x16xf32>, %w: memref<16x10xf32>) -> memref<4x10xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  %z = memref.alloc() : memref<4x10xf32>
  linalg.fill ins(%zero : f32) outs(%z : memref<4x10xf32>)
  %flat = memref.collapse_shape %z [[0, 1]] : memref<4x10xf32> into memref<40xf32>
  %some = memref.subview %flat[0] [6] [1] : memref<40xf32> to memref<6xf32, strided<[1]>>
  scf.for %i = %c0 to %c100 step %c1 {
    %y = memref.alloc() : memref<4x16xf32>
    %p = memref.alloc() : memref<4x10xf32>
    linalg.fill ins(%zero : f32) outs(%y : memref<4x16xf32>)
    linalg.generic {indexing_maps = [#window, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%some, %k : memref<6xf32, strided<[1]>>, memref<3x16xf32>) outs(%y : memref<4x16xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.fill ins(%zero : f32) outs(%p : memref<4x10xf32>)
    linalg.matmul ins(%y, %w : memref<4x16xf32>, memref<16x10xf32>) outs(%p : memref<4x10xf32>)
    linalg.add ins(%z, %p : memref<4x10xf32>, memref<4x10xf32>) outs(%z : memref<4x10xf32>)
  }
  return %z : memref<4x10xf32>
}
