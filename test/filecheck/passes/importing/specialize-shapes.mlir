// RUN: ipu-opt %s --ipu-specialize-shapes=sizes=4,3 | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[Y:.*]]: tensor<2x3xf32>) -> (tensor<4x5xf32>, tensor<2x3xf32>)
// CHECK-NOT: ?
// CHECK: linalg.exp ins(%[[X]] : tensor<4x5xf32>)
// CHECK: return %{{.*}}, %[[Y]]
func.func @main(%x: tensor<?x5xf32>, %y: tensor<2x?xf32>) -> (tensor<?x5xf32>, tensor<2x?xf32>) {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x5xf32>
  %e = tensor.empty(%n) : tensor<?x5xf32>
  %r = linalg.exp ins(%x : tensor<?x5xf32>) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %r, %y : tensor<?x5xf32>, tensor<2x?xf32>
}
