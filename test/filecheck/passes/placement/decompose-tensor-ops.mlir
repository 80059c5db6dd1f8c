// RUN: ipu-opt %s --ipu-decompose-tensor-ops | filecheck %s

// CHECK-LABEL: func.func @concat_becomes_inserted_slices
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<1x3xf32>)
// CHECK-NOT: tensor.concat
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x3xf32>
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[X]] into %[[E]][0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %[[Y]] into %[[FIRST]][2, 0] [1, 3] [1, 1]
func.func @concat_becomes_inserted_slices(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> tensor<3x3xf32> {
  %z = tensor.concat dim(0) %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return %z : tensor<3x3xf32>
}

// CHECK-LABEL: func.func @pad_becomes_a_fill_and_an_inserted_slice
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NOT: tensor.pad
// CHECK-DAG: %[[C:.*]] = arith.constant 5.0{{.*}} : f32
// CHECK: %[[FILLED:.*]] = linalg.fill ins(%[[C]] : f32)
// CHECK: tensor.insert_slice %[[X]] into %[[FILLED]][1, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x5xf32>
func.func @pad_becomes_a_fill_and_an_inserted_slice(%x: tensor<2x3xf32>) -> tensor<4x5xf32> {
  %c = arith.constant 0.5 : f32
  %y = tensor.pad %x low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<2x3xf32> to tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @negative_padding_cuts_off
// CHECK-SAME: (%[[X:.*]]: tensor<2x5xf32>)
// CHECK: %[[CUT:.*]] = tensor.extract_slice %[[X]][0, 1] [2, 3] [1, 1] : tensor<2x5xf32> to tensor<2x3xf32>
// CHECK: tensor.insert_slice %[[CUT]] into %{{.*}}[2, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x3xf32>
func.func @negative_padding_cuts_off(%x: tensor<2x5xf32>) -> tensor<4x3xf32> {
  %c = arith.constant 0.5 : f32
  %y = tensor.pad %x low[2, -1] high[0, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<2x5xf32> to tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @negative_padding_that_cuts_off_all
// CHECK-NOT: tensor.pad
// CHECK: return %{{.*}} : tensor<2xf32>
func.func @negative_padding_that_cuts_off_all(%x: tensor<3xf32>) -> tensor<2xf32> {
  %c = arith.constant 0.5 : f32
  %y = tensor.pad %x low[-3] high[2] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<3xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @view_of_an_empty_tensor_is_an_empty_tensor
// CHECK: %[[E:.*]] = tensor.empty() : tensor<6xf32>
// CHECK: return %[[E]]
func.func @view_of_an_empty_tensor_is_an_empty_tensor() -> tensor<6xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %v = tensor.collapse_shape %e [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %v : tensor<6xf32>
}

// CHECK-LABEL: func.func @other_views_stay
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice
func.func @other_views_stay(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %v = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %s = tensor.extract_slice %v[1] [2] [1] : tensor<6xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}
