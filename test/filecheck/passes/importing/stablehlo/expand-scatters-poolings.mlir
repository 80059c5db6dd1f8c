// RUN: ipu-opt %s --ipu-expand-scatters | filecheck %s
// RUN: ipu-opt %s --ipu-import-stablehlo --ipu-autodiff | filecheck %s --check-prefix=GRADIENT

// CHECK-LABEL: func.func @largest
// CHECK: %[[BOTH:.*]]:2 = call @pooling_0_gradient(%arg0, %arg1)
// CHECK: return %[[BOTH]]#1
// GRADIENT-LABEL: func.func @largest
// GRADIENT-NOT: call
// GRADIENT: linalg.generic
func.func @largest(%x: tensor<7xf32>, %s: tensor<3xf32>) -> tensor<7xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{
    window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<7xf32>, tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK-LABEL: func.func @smallest
// CHECK: call @pooling_1_gradient(%arg0, %arg1)
func.func @smallest(%x: tensor<7xf32>, %s: tensor<3xf32>) -> tensor<7xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{
    window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<7xf32>, tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// The last of equal elements is another one than that of a pooling; and a product is no sum.
// CHECK-LABEL: func.func @last_of_equal_elements
// CHECK-NOT: call
// CHECK: scf.for
func.func @last_of_equal_elements(%x: tensor<7xf32>, %s: tensor<3xf32>) -> tensor<7xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{
    window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<7xf32>, tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// The gradient of a pooling, of which there is one function for each, is declared.
// CHECK-LABEL: func.func private @pooling_0(
// CHECK: "stablehlo.reduce_window"(%{{.*}}, %{{.*}}) <{padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}>
// CHECK: stablehlo.maximum
// CHECK: func.func private @pooling_0_gradient(tensor<7xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<7xf32>)
// CHECK-SAME: ipu.gradient = {by = array<i64: 0>, of = @pooling_0}
