// RUN: ipu-opt %s --ipu-specialize-shapes=sizes=4,2 | filecheck %s

// A function that is called with tensors of several sizes serves each of them.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[Y:.*]]: tensor<2x5xf32>) -> (tensor<4x5xf32>, tensor<2x5xf32>)
// CHECK-NOT: ?
// CHECK: linalg.exp ins(%[[X]] : tensor<4x5xf32>)
// CHECK: linalg.exp ins(%[[Y]] : tensor<2x5xf32>)
func.func @main(%x: tensor<?x5xf32>, %y: tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>) {
  %a = call @exp(%x) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %b = call @exp(%y) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  return %a, %b : tensor<?x5xf32>, tensor<?x5xf32>
}

func.func private @exp(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x5xf32>
  %e = tensor.empty(%n) : tensor<?x5xf32>
  %r = linalg.exp ins(%x : tensor<?x5xf32>) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}
