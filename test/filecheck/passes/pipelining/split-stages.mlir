// RUN: ipu-opt %s --ipu-differentiate-stages --ipu-autodiff --ipu-split-stages | filecheck %s
// RUN: sed 's/"none"/"elementwise"/' %s | ipu-opt --ipu-differentiate-stages --ipu-autodiff --ipu-split-stages | filecheck %s --check-prefix=LESS
// RUN: sed 's/"none"/"inputs", most_again = 1.0 : f64/' %s | ipu-opt --ipu-differentiate-stages --ipu-autodiff --ipu-split-stages | filecheck %s --check-prefix=AGAIN
// RUN: sed 's/"none"/"inputs", most_again = 0.5 : f64/' %s | ipu-opt --ipu-differentiate-stages --ipu-autodiff --ipu-split-stages | filecheck %s --check-prefix=LESS

// The input and the result of tanh are stored, the parameter is there in any case.
// CHECK-LABEL: func.func private @p_first_gradient_forward(
// CHECK-SAME: %{{.*}}: tensor<4x4xf32>, %[[X:.*]]: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: math.tanh
// CHECK: return %[[T:.*]], %[[X]], %[[T]] :
// CHECK-LABEL: func.func private @p_first_gradient_backward(
// CHECK-SAME: tensor<4x4xf32>, %[[X:.*]]: tensor<3x4xf32>, %[[T:.*]]: tensor<3x4xf32>, %[[DT:.*]]: tensor<3x4xf32>) -> tensor<4x4xf32>
// CHECK: ins(%[[DT]], %[[T]] :
// CHECK-LABEL: func.func private @first(
// CHECK-NOT: func.func private @p_first_gradient(

// LESS-LABEL: func.func private @p_first_gradient_forward(
// LESS-SAME: -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)

// In as many cycles as the forward part takes, all of it is computed again from the input; in half of them, it is not.
// AGAIN-LABEL: func.func private @p_first_gradient_forward(
// AGAIN-SAME: -> (tensor<3x4xf32>, tensor<3x4xf32>)
// AGAIN-LABEL: func.func private @p_first_gradient_backward(
// AGAIN: math.tanh

"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", training, recompute = "none"} : () -> ()

func.func private @first(%w: tensor<4x4xf32>, %x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %z = arith.constant dense<0.0> : tensor<3x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x4xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  %t = math.tanh %y : tensor<3x4xf32>
  return %t : tensor<3x4xf32>
}

func.func private @last(%w: tensor<4x4xf32>, %x: tensor<3x4xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<3x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x4xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%y : tensor<3x4xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %a : f32
    %c = arith.addf %m, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
