// RUN: ipu-opt %s --ipu-set-target=tiles=16 --ipu-compile --canonicalize --cse --ipu-merge-compute-sets | filecheck %s --check-prefix=MARKS
// RUN: ipu-opt %s --ipu-set-target=tiles=16 --ipu-compile | ipu-opt --canonicalize --cse --ipu-to-host | filecheck %s
// RUN: ipu-opt %s --ipu-set-target=tiles=16 --ipu-compile --emit-bytecode | ipu-opt --ipu-to-host | filecheck %s

// The marks of a product that is cut are there in supersteps, and the product is whole on the host.
// MARKS: ipu.partials = array<i64: 2, [[BLOCK:[0-9]+]]>
// MARKS: ipu.combines = array<i64: 2, [[BLOCK]]>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<4x4096xf32>, %[[W:.*]]: memref<4096x4xf32>) -> memref<4x4xf32> {
// CHECK: %[[Y:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT: linalg.fill ins(%{{.*}} : f32) outs(%[[Y]] : memref<4x4xf32>)
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[X]], %[[W]] : memref<4x4096xf32>, memref<4096x4xf32>) outs(%[[Y]] : memref<4x4xf32>) {
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
func.func @main(%x: tensor<4x4096xf32>, %w: tensor<4096x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x4096xf32>, tensor<4096x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
