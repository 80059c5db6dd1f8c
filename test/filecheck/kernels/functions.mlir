// RUN: ipu-translate --to-kernels %s | filecheck %s
// RUN: ipu-translate --to-numpy %s --kernels=never | filecheck %s --check-prefix=NEVER
// A sine of f32 is computed in f64; of large numbers (if there is one) what is above whole turns is looked up.

// CHECK:      llvm.mlir.global internal constant @turns(dense<{{.*}}> : tensor<166xf64>)
// CHECK:      func internal @nest_
// CHECK:        arith.extf %{{.*}} : vector<16xf32> to vector<16xf64>
// CHECK:        %[[SOME:.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:   scf.if %[[SOME]] {
// CHECK:          llvm.mlir.addressof @turns : !llvm.ptr
// CHECK:          llvm.intr.masked.gather
// CHECK:        arith.truncf %{{.*}} : vector<16xf64> to vector<16xf32>

// NEVER:      sin(arg0, result0)
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: memref<32xf32>) -> memref<32xf32> {
  %y = memref.alloc() : memref<32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<32xf32>) outs(%y : memref<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.sin %in : f32
    linalg.yield %s : f32
  }
  return %y : memref<32xf32>
}
