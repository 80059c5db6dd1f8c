// RUN: ipu-opt %s --ipu-materialize-views | filecheck %s

// CHECK-LABEL: func.func @returned_slice_is_copied
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<2xf32>
// CHECK-NEXT: %[[C:.*]] = linalg.copy {{.*}}ins(%[[S]] : tensor<2xf32>) outs(%[[E]] : tensor<2xf32>)
// CHECK-NEXT: return %[[C]]
func.func @returned_slice_is_copied(%x: tensor<4xf32>) -> tensor<2xf32> {
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}

// CHECK-LABEL: func.func @reshaped_slice_that_is_not_evenly_spaced_is_copied
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.copy {{.*}}ins(%[[S]] : tensor<2x2xf32>)
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[C]]
// CHECK: linalg.exp ins(%[[V]]
func.func @reshaped_slice_that_is_not_evenly_spaced_is_copied(%x: tensor<2x3xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %s = tensor.extract_slice %x[0, 0] [2, 2] [1, 1] : tensor<2x3xf32> to tensor<2x2xf32>
  %v = tensor.collapse_shape %s [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %y = linalg.exp ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @initial_value_that_is_a_slice_is_copied
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.copy {{.*}}ins(%[[S]]
// CHECK: linalg.matmul {{.*}} outs(%[[C]]
func.func @initial_value_that_is_a_slice_is_copied(%x: tensor<2x2xf32>, %acc: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %s = tensor.extract_slice %acc[2, 0] [2, 2] [1, 1] : tensor<4x2xf32> to tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%s : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @destination_that_is_a_slice_is_copied
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.copy {{.*}}ins(%[[S]]
// CHECK: tensor.insert_slice %{{.*}} into %[[C]]
func.func @destination_that_is_a_slice_is_copied(%x: tensor<1xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %s = tensor.extract_slice %y[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %z = tensor.insert_slice %x into %s[0] [1] [1] : tensor<1xf32> into tensor<2xf32>
  return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func @slice_that_is_only_read_stays
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK-NOT: linalg.copy
// CHECK: linalg.exp ins(%[[S]]
func.func @slice_that_is_only_read_stays(%x: tensor<4xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %y = linalg.exp ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @returned_reshape_of_a_whole_tensor_stays
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @returned_reshape_of_a_whole_tensor_stays(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %v = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %v : tensor<6xf32>
}
