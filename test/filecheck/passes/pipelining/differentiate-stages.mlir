// RUN: ipu-opt %s --ipu-differentiate-stages | filecheck %s

// Each stage is differentiated by its parameters and by what the stage before it gives, not by data.
// CHECK: func.func private @p_first_gradient(tensor<4x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4x4xf32>)
// CHECK-SAME: ipu.gradient = {by = array<i64: 0>, of = @first}
// CHECK: func.func private @p_last_gradient(tensor<4x4xf32>, tensor<3x4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4x4xf32>, tensor<3x4xf32>)
// CHECK-SAME: ipu.gradient = {by = array<i64: 0, 1>, of = @last}

"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", training} : () -> ()

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
