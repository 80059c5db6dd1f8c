// RUN: ipu-opt %s --ipu-expand-scatters | filecheck %s

// CHECK-LABEL: @rows_are_added_where_they_fit
// CHECK: scf.for %[[ROW:[a-z0-9_]+]] = %{{.*}} to %[[ROWS:.*]] step
// CHECK: scf.for %[[COLUMN:[a-z0-9_]+]] =
// CHECK: %[[NUMBER:.*]] = tensor.extract %arg1[%[[ROW]], %{{.*}}] : tensor<3x1xi32>
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[NUMBER]] : i32 to index
// CHECK: %[[FITS:.*]] = arith.cmpi ult, %[[INDEX]]
// CHECK: scf.if %[[FITS]]
// CHECK: tensor.extract %arg2[%[[ROW]], %[[COLUMN]]]
// CHECK: stablehlo.add
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[INDEX]], %[[COLUMN]]] : tensor<5x4xf32>
// CHECK-NOT: stablehlo.scatter
func.func @rows_are_added_where_they_fit(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
                                                   scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<5x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// CHECK-LABEL: @nothing_is_scattered
// CHECK-NEXT: return %arg0
func.func @nothing_is_scattered(%x: tensor<5xf32>, %i: tensor<0x1xi32>, %u: tensor<0xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
                                                   index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5xf32>, tensor<0x1xi32>, tensor<0xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: @windows_that_overlap_the_border_are_guarded
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (index, f32, i1)
// CHECK: %[[FITS:.*]] = arith.cmpi ult
// CHECK: scf.if %[[FITS]] -> (index, f32, i1)
// CHECK: stablehlo.compare
// CHECK: tensor.insert
// CHECK-NOT: select_and_scatter
func.func @windows_that_overlap_the_border_are_guarded(%x: tensor<6xf32>, %s: tensor<3xf32>, %z: tensor<f32>) -> tensor<6xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{
    window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: @known_places_that_make_a_box_are_a_slice
// CHECK-SAME: (%[[X:.*]]: tensor<9x4xf32>, %[[U:.*]]: tensor<3x4xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[BACK:.*]] = stablehlo.reverse
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[X]][2, 0] [3, 4] [3, 1]
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[BACK]] : tensor<3x4xf32>) outs(%[[OLD]] : tensor<3x4xf32>)
// CHECK: stablehlo.add
// CHECK: tensor.insert_slice %[[NEW]] into %[[X]][2, 0] [3, 4] [3, 1]
func.func @known_places_that_make_a_box_are_a_slice(%x: tensor<9x4xf32>, %u: tensor<3x4xf32>) -> tensor<9x4xf32> {
  %number = stablehlo.iota dim = 0 : tensor<3xi32>
  %step = stablehlo.constant dense<-3> : tensor<3xi32>
  %last = stablehlo.constant dense<8> : tensor<3xi32>
  %distance = stablehlo.multiply %number, %step : tensor<3xi32>
  %places = stablehlo.add %distance, %last : tensor<3xi32>
  %i = stablehlo.reshape %places : (tensor<3xi32>) -> tensor<3x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
                                                   scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<9x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// CHECK-LABEL: @known_places_are_scattered_to_one_after_the_other
// CHECK: scf.for
func.func @known_places_are_scattered_to_one_after_the_other(%x: tensor<9x4xf32>, %u: tensor<3x4xf32>) -> tensor<9x4xf32> {
  %i = stablehlo.constant dense<[[2], [5], [5]]> : tensor<3x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
                                                   scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<9x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// CHECK-LABEL: @one_window_is_an_update_of_a_slice
// CHECK-SAME: (%[[X:.*]]: tensor<5x4xf32>, %[[I:.*]]: tensor<1xi32>, %[[U:.*]]: tensor<5xf32>)
// CHECK-NOT: scf.for
// CHECK: %[[PLACE:.*]] = arith.index_cast
// CHECK: %[[FITS:.*]] = arith.cmpi ult, %[[PLACE]]
// CHECK: %[[SAFE:.*]] = arith.select %[[FITS]], %[[PLACE]]
// CHECK: tensor.extract_slice %[[X]][0, %[[SAFE]]] [5, 1] [1, 1]
// CHECK: linalg.generic
// CHECK: arith.select %[[FITS]]
// CHECK: tensor.insert_slice %{{.*}} into %[[X]][0, %[[SAFE]]] [5, 1] [1, 1]
func.func @one_window_is_an_update_of_a_slice(%x: tensor<5x4xf32>, %i: tensor<1xi32>, %u: tensor<5xf32>) -> tensor<5x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1],
                                                   scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x4xf32>, tensor<1xi32>, tensor<5xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
