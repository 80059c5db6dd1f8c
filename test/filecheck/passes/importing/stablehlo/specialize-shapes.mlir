// RUN: ipu-opt %s --ipu-specialize-shapes='function=step sizes=3,3' | filecheck %s

// CHECK-LABEL: func.func public @step
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>, %[[Y:.*]]: tensor<3xf32>) -> (tensor<2x4xf32>, tensor<3xf32>, tensor<6xf32>)
// CHECK-NOT: ?
// CHECK-NOT: shape_assertion
// CHECK: stablehlo.reduce_window
// CHECK: chlo.erf
func.func public @step(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %same = stablehlo.compare EQ, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%same, %n) {api_version = 2 : i32, error_message = "n is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %0:3 = call @inner(%n, %x, %y) : (tensor<i32>, tensor<?x4xf32>, tensor<?xf32>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1, %0#2 : tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func private @inner(%n: tensor<i32>, %x: tensor<?x4xf32>, %y: tensor<?xf32>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>) {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %none = stablehlo.constant dense<0> : tensor<2x2xi32>
  %minus = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %half = stablehlo.subtract %m, %one : tensor<1xi32>
  %windows = stablehlo.concatenate %half, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %minus, %windows, %ones, %ones, %ones, %none) {called_computations = [@larger]} : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x4xf32>
  %1 = stablehlo.composite "chlo.erf" %y {decomposition = @erf, version = 1 : i32} : (tensor<?xf32>) -> tensor<?xf32>
  %2 = stablehlo.concatenate %y, %1, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func private @larger(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.maximum %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @erf(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.tanh %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
