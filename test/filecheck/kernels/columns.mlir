// RUN: ipu-translate --to-kernels --kernels=auto %s | filecheck %s
// Blocks of columns are walked along rows, 64 columns at a time: lanes are neighbours in memory, in parts of reductions, too.

// CHECK:      llvm.func @block0(
// CHECK:      %[[STRIP:.*]] = arith.constant 64 : i64
// CHECK:      %[[PARTS:.*]] = arith.constant 256 : i64
// CHECK:      %[[ROWS:.*]] = arith.constant 4096 : i64
// CHECK:      scf.for %{{.*}} = %lo to %hi step %[[STRIP]] : i64 {
// CHECK:        scf.for %{{.*}} = %{{.*}} to %[[PARTS]] step
// CHECK:          scf.for
// CHECK:            llvm.store {{.*}} : vector<16xf32>
// CHECK:        scf.for %{{.*}} = %{{.*}} to %[[ROWS]] step
// CHECK:          scf.for
// CHECK-NOT:    math.fma {{.*}} : f32
// CHECK:          math.fma {{.*}} : vector<16xf32>
// CHECK-NOT:    arith.divf {{.*}} : f32
// CHECK:          arith.divf {{.*}} : vector<16xf32>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#column = affine_map<(d0, d1, d2) -> (d2)>
func.func @main(%x: memref<1024x4x1024xf32>) -> memref<1024x4x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m = memref.alloc() : memref<1024xf32>
  %e = memref.alloc() : memref<1024x4x1024xf32>
  %s = memref.alloc() : memref<1024xf32>
  %y = memref.alloc() : memref<1024x4x1024xf32>
  linalg.fill ins(%low : f32) outs(%m : memref<1024xf32>)
  linalg.reduce {arith.maximumf} ins(%x : memref<1024x4x1024xf32>) outs(%m : memref<1024xf32>) dimensions = [0, 1]
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %m : memref<1024x4x1024xf32>, memref<1024xf32>) outs(%e : memref<1024x4x1024xf32>) {
  ^bb0(%in: f32, %max: f32, %out: f32):
    %d = arith.subf %in, %max : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<1024xf32>)
  linalg.reduce {arith.addf} ins(%e : memref<1024x4x1024xf32>) outs(%s : memref<1024xf32>) dimensions = [0, 1]
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e, %s : memref<1024x4x1024xf32>, memref<1024xf32>) outs(%y : memref<1024x4x1024xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %q = arith.divf %in, %sum : f32
    linalg.yield %q : f32
  }
  return %y : memref<1024x4x1024xf32>
}
