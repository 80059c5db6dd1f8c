// RUN: ipu-opt %s --ipu-slice-pads --canonicalize | filecheck %s

// The padding behind the one that takes elements away does not bring them back.
// CHECK-LABEL: func.func @taken_away_and_padded
// CHECK: %[[LEFT:.*]] = tensor.extract_slice %arg0[1, 0] [3, 4] [1, 1] : tensor<4x5xf32> to tensor<3x4xf32>
// CHECK: tensor.pad %[[LEFT]] low[1, 0] high[0, 2]
func.func @taken_away_and_padded(%x: tensor<4x5xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[-1, 0] high[0, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x5xf32> to tensor<3x4xf32>
  %1 = tensor.pad %0 low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x4xf32> to tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @others_stay
// CHECK-NOT: tensor.extract_slice
// CHECK: tensor.pad %arg0 low[%arg1, 0] high[0, 1]
func.func @others_stay(%x: tensor<4x5xf32>, %low: index) -> tensor<?x6xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[%low, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x5xf32> to tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
