// RUN: ipu-opt %s --ipu-fold-transposes | filecheck %s

// CHECK-DAG: #[[ROW_COLUMN:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[TRANSPOSED:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2) -> (d2, d0, d1)>

// CHECK-LABEL: func.func @matmul_reads_its_right_operand_transposed
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<4x3xf32>, %{{.*}}: tensor<2x4xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: linalg.matmul indexing_maps = [#[[ROW_COLUMN]], #[[TRANSPOSED]], #[[RESULT]]] ins(%[[X]], %[[W]]
func.func @matmul_reads_its_right_operand_transposed(
    %x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %acc: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%x, %t : tensor<2x3xf32>, tensor<3x4xf32>) outs(%acc : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Dimension i of the transpose is dimension permutation[i] of its source: with [1, 2, 0] the source (2, 3, 4) becomes
// (3, 4, 2), and element (a, b, c) of that is element (c, a, b) of the source.
// CHECK-LABEL: func.func @generic_reads_through_a_permutation_of_three
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#[[TURNED]],
// CHECK-SAME: ins(%[[X]] : tensor<2x3x4xf32>)
func.func @generic_reads_through_a_permutation_of_three(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %e = tensor.empty() : tensor<3x4x2xf32>
  %t = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<3x4x2xf32>) permutation = [1, 2, 0]
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<3x4x2xf32>) outs(%e : tensor<3x4x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = math.exp %a : f32
    linalg.yield %p : f32
  } -> tensor<3x4x2xf32>
  return %y : tensor<3x4x2xf32>
}

// CHECK-LABEL: func.func @transpose_of_a_transpose_folds_twice
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<2x3xf32>)
func.func @transpose_of_a_transpose_folds_twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %f = tensor.empty() : tensor<2x3xf32>
  %t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %u = linalg.transpose ins(%t : tensor<3x2xf32>) outs(%f : tensor<2x3xf32>) permutation = [1, 0]
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<2x3xf32>) outs(%f : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = math.exp %a : f32
    linalg.yield %p : f32
  } -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @returned_transpose_stays
// CHECK: linalg.transpose
func.func @returned_transpose_stays(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %t : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @transposed_initial_value_stays
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: linalg.matmul
// CHECK-SAME: outs(%[[T]]
func.func @transposed_initial_value_stays(
    %x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %acc: tensor<4x2xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %t = linalg.transpose ins(%acc : tensor<4x2xf32>) outs(%e : tensor<2x4xf32>) permutation = [1, 0]
  %y = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%t : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
