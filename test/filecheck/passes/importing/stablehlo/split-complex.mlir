// RUN: ipu-opt %s --ipu-split-complex --canonicalize | filecheck %s

// CHECK-LABEL: @arguments_and_results_are_pairs
// CHECK-SAME: (%[[X:.*]]: tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK: %[[RE:.*]] = stablehlo.slice %[[X]] [0:3, 0:1]
// CHECK: %[[IM:.*]] = stablehlo.slice %[[X]] [0:3, 1:2]
// CHECK: stablehlo.negate
// CHECK: stablehlo.negate
// CHECK: tensor.concat dim(1)
// CHECK-NOT: complex
func.func @arguments_and_results_are_pairs(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.negate %x : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// Two dimensions: the last one becomes complex, the other one is turned to the end.
// CHECK-LABEL: @a_transform_of_several_dimensions
// CHECK: %[[LAST:.*]] = linalg.generic {{.*}} library_call = "rfft"} ins(%{{.*}} : tensor<5x4x8xf32>) outs(%{{.*}} : tensor<5x4x5x2xf32>)
// CHECK: %[[TURNED:.*]] = stablehlo.transpose %[[LAST]], dims = [0, 2, 1, 3]
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"} ins(%[[TURNED]] : tensor<5x5x4x2xf32>)
// CHECK: stablehlo.transpose %[[FIRST]], dims = [0, 2, 1, 3]
func.func @a_transform_of_several_dimensions(%x: tensor<5x4x8xf32>) -> tensor<5x4x5xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [4, 8] : (tensor<5x4x8xf32>) -> tensor<5x4x5xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<5x4x5xcomplex<f32>>) -> tensor<5x4x5xf32>
  return %1 : tensor<5x4x5xf32>
}

// CHECK-LABEL: @constants_are_taken_apart
// CHECK-DAG: stablehlo.constant dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf64>
// CHECK-DAG: stablehlo.constant dense<[2.000000e+00, -4.000000e+00]> : tensor<2xf64>
func.func @constants_are_taken_apart() -> (tensor<2xf64>, tensor<2xf64>) {
  %0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f64>>
  %1 = stablehlo.real %0 : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  %2 = stablehlo.imag %0 : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  return %1, %2 : tensor<2xf64>, tensor<2xf64>
}

// CHECK-LABEL: @a_function_of_reals_is_left_alone
// CHECK-NEXT: return %arg0
func.func @a_function_of_reals_is_left_alone(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// Both parts are carried, behind what is carried already.
// CHECK-LABEL: @a_loop_carries_both_parts
// CHECK: stablehlo.while(%[[I:.*]] = %{{.*}}, %[[RE:.*]] = %{{.*}}, %[[IM:.*]] = %{{.*}}) : tensor<i32>, tensor<3xf32>, tensor<3xf32>
// CHECK: %[[SUM:.*]] = stablehlo.add %[[RE]], %[[RE]]
// CHECK: %[[OTHER:.*]] = stablehlo.add %[[IM]], %[[IM]]
// CHECK: stablehlo.return %{{.*}}, %[[SUM]], %[[OTHER]] : tensor<i32>, tensor<3xf32>, tensor<3xf32>
func.func @a_loop_carries_both_parts(%x: tensor<3xcomplex<f32>>, %n: tensor<i32>) -> tensor<3xcomplex<f32>> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<3xcomplex<f32>>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %a, %a : tensor<3xcomplex<f32>>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %3 : tensor<3xcomplex<f32>>, tensor<i32>
  }
  return %0#0 : tensor<3xcomplex<f32>>
}

// CHECK-LABEL: @a_comparison_takes_the_parts_of_both_elements
// CHECK: "stablehlo.sort"(%{{.*}}, %{{.*}}) <{dimension = 0 : i64}> ({
// CHECK-NEXT: ^bb0(%[[RE:.*]]: tensor<f32>, %[[OTHER:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK: stablehlo.compare LT, %[[RE]], %[[OTHER]]
func.func @a_comparison_takes_the_parts_of_both_elements(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %1 = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>
    %2 = stablehlo.real %b : (tensor<complex<f32>>) -> tensor<f32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}

// A call hands pairs on, and gets pairs.
// CHECK-LABEL: func.func @calls
// CHECK-SAME:    %[[Z:[^:]*]]: tensor<4x2xf32>
// CHECK:         %[[P:.*]] = tensor.concat
// CHECK:         %[[R:.*]]:2 = call @squared(%[[P]], %{{.*}}) {ipu.outlined, no_inline} : (tensor<4x2xf32>, tensor<4xf32>) -> (tensor<4x2xf32>, tensor<4xf32>)
// CHECK:         stablehlo.slice %[[R]]#0
// CHECK-LABEL: func.func private @squared(%arg0: tensor<4x2xf32>, %arg1: tensor<4xf32>) -> (tensor<4x2xf32>, tensor<4xf32>)
func.func @calls(%z: tensor<4xcomplex<f32>>, %x: tensor<4xf32>) -> (tensor<4xcomplex<f32>>, tensor<4xf32>) {
  %r:2 = func.call @squared(%z, %x) {ipu.outlined, no_inline} : (tensor<4xcomplex<f32>>, tensor<4xf32>) -> (tensor<4xcomplex<f32>>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xcomplex<f32>>, tensor<4xf32>
}
func.func private @squared(%z: tensor<4xcomplex<f32>>, %x: tensor<4xf32>) -> (tensor<4xcomplex<f32>>, tensor<4xf32>) {
  %y = stablehlo.multiply %z, %z : tensor<4xcomplex<f32>>
  return %y, %x : tensor<4xcomplex<f32>>, tensor<4xf32>
}

// What a region computes of both numbers takes both parts at once.
// CHECK-LABEL: @a_scatter_by_products
// CHECK: "stablehlo.scatter"(%[[RE:.*]], %[[IM:.*]], %{{.*}}, %[[A:.*]], %[[B:.*]]) <{
// CHECK: ^bb0(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>, %[[D:.*]]: tensor<f32>):
// CHECK-DAG: stablehlo.multiply %[[X]], %[[C]]
// CHECK-DAG: stablehlo.multiply %[[Y]], %[[D]]
// CHECK: stablehlo.return %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
func.func @a_scatter_by_products(%x: tensor<5xcomplex<f32>>, %i: tensor<2x1xi32>, %u: tensor<2xcomplex<f32>>) -> tensor<5xcomplex<f32>> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %1 = stablehlo.multiply %a, %b : tensor<complex<f32>>
    stablehlo.return %1 : tensor<complex<f32>>
  }) : (tensor<5xcomplex<f32>>, tensor<2x1xi32>, tensor<2xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return %0 : tensor<5xcomplex<f32>>
}
