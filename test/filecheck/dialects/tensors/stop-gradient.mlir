// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK-LABEL: func.func @a_value_is_a_constant
func.func @a_value_is_a_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "ipu.stop_gradient"(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %y = "ipu.stop_gradient"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
