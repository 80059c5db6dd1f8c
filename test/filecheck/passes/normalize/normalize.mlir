// RUN: ipu-opt %s --ipu-normalize | filecheck %s

// CHECK-LABEL: func.func @bias_and_relu_become_one_op
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @bias_and_relu_become_one_op(%x: tensor<4x3xf32>, %bias: tensor<3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x3xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : tensor<4x3xf32>, tensor<3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4x3xf32>
  %r = arith.maximumf %s, %zeros : tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @placement_survives_fusion
// CHECK: linalg.generic
// CHECK: "ipu.place"
// CHECK: linalg.generic
func.func @placement_survives_fusion(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"], ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %z = arith.addf %y, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @calls_are_inlined
// CHECK-NOT: call
// CHECK: arith.addf
func.func @calls_are_inlined(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-NOT: @twice
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
