// RUN: ipu-opt %s --ipu-drop-barriers | filecheck %s

// CHECK-LABEL: func.func @computed_anew(
// CHECK-SAME:  %[[X:.*]]: tensor<4xf32>
// CHECK-NOT:   ipu.barrier
// CHECK:       math.sin %[[X]]
// CHECK:       math.sin %[[X]]
func.func @computed_anew(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %before = math.sin %x : tensor<4xf32>
  %y = "ipu.barrier"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %again = math.sin %y : tensor<4xf32>
  return %before, %again : tensor<4xf32>, tensor<4xf32>
}
