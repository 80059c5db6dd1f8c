// RUN: ipu-opt %s --cse --canonicalize | ipu-opt | filecheck %s

// The sine is computed twice.
// CHECK-LABEL: func.func @computed_anew
func.func @computed_anew(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: math.sin
  // CHECK: %[[Y:.*]] = "ipu.barrier"(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: math.sin %[[Y]]
  %before = math.sin %x : tensor<4xf32>
  %y = "ipu.barrier"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %again = math.sin %y : tensor<4xf32>
  return %before, %again : tensor<4xf32>, tensor<4xf32>
}
