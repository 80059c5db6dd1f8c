// RUN: ipu-opt %s --ipu-expand-random | filecheck %s

// CHECK-LABEL: @bits_of_philox_are_drawn_by_a_function
// CHECK: %[[DRAWN:.*]]:2 = call @ipu_philox_0(%arg0) : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x5xui32>)
// CHECK: rng_bit_generator %arg0, algorithm = THREE_FRY
// CHECK: func.func private @ipu_philox_0
// CHECK: stablehlo.constant dense<3528531795> : tensor<3xui64>
func.func @bits_of_philox_are_drawn_by_a_function(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<2x5xui32>, tensor<4xui32>) {
  %state, %bits = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x5xui32>)
  %other, %left = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %state, %bits, %left : tensor<3xui64>, tensor<2x5xui32>, tensor<4xui32>
}
