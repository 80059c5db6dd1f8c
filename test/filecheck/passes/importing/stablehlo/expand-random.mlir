// RUN: ipu-opt %s --ipu-expand-random --split-input-file | filecheck %s

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

// -----

// CHECK-LABEL: @numbers_without_a_state_of_their_own_have_a_variable
// CHECK: %[[STATE:.*]] = "ipu.read"() {variable = @ipu.random}
// CHECK: %[[OLD:.*]] = stablehlo.convert %[[STATE]] : (tensor<3xi64>) -> tensor<3xui64>
// CHECK: %[[DRAWN:.*]]:2 = call @ipu_philox_0(%[[OLD]])
// CHECK: %[[NEW:.*]] = stablehlo.convert %[[DRAWN]]#0 : (tensor<3xui64>) -> tensor<3xi64>
// CHECK: "ipu.assign"(%[[NEW]]) {variable = @ipu.random}
// CHECK: "ipu.variable"() {init = dense<0> : tensor<3xi64>, sym_name = "ipu.random", type = tensor<3xi64>}
func.func @numbers_without_a_state_of_their_own_have_a_variable(%a: tensor<f32>, %b: tensor<f32>) -> tensor<3xf32> {
  %shape = stablehlo.constant dense<3> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
