// RUN: ipu-opt %s --ipu-expand-linear-algebra | filecheck %s

// Rows are counted from 1, and the call has always succeeded.
// CHECK-LABEL: @what_jax_calls_lapack_for
// CHECK-SAME: (%[[A:.*]]: tensor<2x4x3xf32>)
// CHECK: %[[LU:.*]]:3 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction", "reduction"], library_call = "lu"} ins(%[[A]] : tensor<2x4x3xf32>)
// CHECK: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<2x3xi32>
// CHECK: %[[PIVOTS:.*]] = stablehlo.add %[[LU]]#1, %[[ONE]]
// CHECK: %[[INFO:.*]] = linalg.fill
// CHECK: return %[[LU]]#0, %[[PIVOTS]], %[[INFO]]
func.func @what_jax_calls_lapack_for(%a: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2xi32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2xi32>
}

// Right sides may lie on several tiles; x a = b is a' x' = b'.
// CHECK-LABEL: @a_solution_from_the_right
// CHECK: %[[B:.*]] = stablehlo.transpose %arg1, dims = [1, 0]
// CHECK: %[[A:.*]] = stablehlo.transpose %arg0, dims = [1, 0]
// CHECK: %[[X:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "reduction", "parallel"], library_call = "solve_upper_unit"} ins(%[[A]], %[[B]]
// CHECK: stablehlo.transpose %[[X]], dims = [1, 0]
func.func @a_solution_from_the_right(%a: tensor<3x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

// CHECK-LABEL: @three_diagonals
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"], library_call = "solve_tridiagonal"} ins(%arg0, %arg0, %arg0, %arg1
func.func @three_diagonals(%a: tensor<3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%a, %a, %a, %b) {mhlo.backend_config = {}} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>, tensor<i32>)
  return %0#3 : tensor<3x2xf32>
}

// TensorFlow has results in a tuple.
// CHECK-LABEL: @what_tensorflow_calls_xla_for
// CHECK: %[[QR:.*]]:2 = linalg.generic {{.*}} library_call = "reflections"}
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} library_call = "reflections_product"} ins(%[[QR]]#0, %[[QR]]#1
// CHECK-NOT: tuple
// CHECK: return %[[Q]]
func.func @what_tensorflow_calls_xla_for(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.custom_call @Qr(%a) : (tensor<4x3xf32>) -> tuple<tensor<4x3xf32>, tensor<3xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4x3xf32>, tensor<3xf32>>) -> tensor<4x3xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x3xf32>, tensor<3xf32>>) -> tensor<3xf32>
  %3 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1, %2) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}
