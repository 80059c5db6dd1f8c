// RUN: ipu-opt %s --ipu-raise-dynamic-slices | filecheck %s

// CHECK-LABEL: func.func @slice_at_a_run_time_offset_becomes_a_gather
// CHECK-SAME: (%[[X:.*]]: tensor<8x3xf32>, %[[I:.*]]: index)
// CHECK-NOT: tensor.extract_slice
// CHECK: linalg.generic
// CHECK-DAG: %[[ROW:.*]] = linalg.index 0
// CHECK-DAG: arith.addi %[[I]], %[[ROW]]
// CHECK: tensor.extract %[[X]][
// CHECK: } -> tensor<2x3xf32>
func.func @slice_at_a_run_time_offset_becomes_a_gather(%x: tensor<8x3xf32>, %i: index) -> tensor<2x3xf32> {
  %y = tensor.extract_slice %x[%i, 0] [2, 3] [1, 1] : tensor<8x3xf32> to tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @dropped_dimension_has_no_loop
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel"]
// CHECK: tensor.extract
// CHECK: } -> tensor<3xf32>
func.func @dropped_dimension_has_no_loop(%x: tensor<8x3xf32>, %i: index) -> tensor<3xf32> {
  %y = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<8x3xf32> to tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @steps_are_kept
// CHECK: linalg.generic
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: arith.muli %{{.*}}, %[[TWO]]
func.func @steps_are_kept(%x: tensor<8xf32>, %i: index) -> tensor<3xf32> {
  %y = tensor.extract_slice %x[%i] [3] [2] : tensor<8xf32> to tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func.func @update_at_a_run_time_offset_becomes_a_codelet
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[Y:.*]]: tensor<8xf32>, %[[I:.*]]: index)
// CHECK-NOT: tensor.insert_slice
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"], library_call = "update_slice"}
// CHECK-SAME: ins(%[[I]], %[[X]] : index, tensor<2xf32>) outs(%[[Y]] : tensor<8xf32>)
func.func @update_at_a_run_time_offset_becomes_a_codelet(
    %x: tensor<2xf32>, %y: tensor<8xf32>, %i: index) -> tensor<8xf32> {
  %z = tensor.insert_slice %x into %y[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %z : tensor<8xf32>
}

// CHECK-LABEL: func.func @a_dimension_that_is_replaced_whole_has_offset_zero
// CHECK-SAME: (%[[X:.*]]: tensor<6xf32>, %[[Y:.*]]: tensor<4x6xf32>, %[[I:.*]]: index)
// CHECK: %[[ROW:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1]] output_shape [1, 6]
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"], library_call = "update_slice"}
// CHECK-SAME: ins(%[[I]], %[[ZERO]], %[[ROW]] : index, index, tensor<1x6xf32>) outs(%[[Y]] : tensor<4x6xf32>)
func.func @a_dimension_that_is_replaced_whole_has_offset_zero(
    %x: tensor<6xf32>, %y: tensor<4x6xf32>, %i: index) -> tensor<4x6xf32> {
  %z = tensor.insert_slice %x into %y[%i, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<4x6xf32>
  return %z : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @an_update_in_steps_is_a_choice
// CHECK-NOT: library_call
// CHECK: arith.floordivsi
// CHECK: arith.select
func.func @an_update_in_steps_is_a_choice(%x: tensor<2xf32>, %y: tensor<8xf32>, %i: index) -> tensor<8xf32> {
  %z = tensor.insert_slice %x into %y[%i] [2] [3] : tensor<2xf32> into tensor<8xf32>
  return %z : tensor<8xf32>
}

// CHECK-LABEL: func.func @static_slices_stay
// CHECK: tensor.extract_slice
// CHECK: tensor.insert_slice
// CHECK-NOT: linalg.generic
func.func @static_slices_stay(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %s = tensor.extract_slice %x[2] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %z = tensor.insert_slice %s into %y[4] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %z : tensor<8xf32>
}

// CHECK-LABEL: func.func @a_large_tensor_is_sliced_in_one_dimension_after_the_other
// CHECK-SAME: (%[[X:.*]]: tensor<100x100xf32>, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK: %[[COLUMNS:.*]] = linalg.generic
// CHECK-NOT: arith.addi %[[I]]
// CHECK: arith.addi %[[J]]
// CHECK: } -> tensor<100x20xf32>
// CHECK: linalg.generic
// CHECK: arith.addi %[[I]]
// CHECK: tensor.extract %[[COLUMNS]][
// CHECK: } -> tensor<50x20xf32>
func.func @a_large_tensor_is_sliced_in_one_dimension_after_the_other(
    %x: tensor<100x100xf32>, %i: index, %j: index) -> tensor<50x20xf32> {
  %y = tensor.extract_slice %x[%i, %j] [50, 20] [1, 1] : tensor<100x100xf32> to tensor<50x20xf32>
  return %y : tensor<50x20xf32>
}

// CHECK-LABEL: func.func @a_large_tensor_is_updated_by_way_of_columns
// CHECK: %[[COLUMNS:.*]] = linalg.generic
// CHECK: } -> tensor<100x20xf32>
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}}library_call = "update_slice"}
// CHECK-SAME: outs(%[[COLUMNS]] : tensor<100x20xf32>)
// CHECK: linalg.generic {{.*}}library_call = "update_slice"}
// CHECK-SAME: %[[NEW]]
// CHECK-SAME: outs(%{{.*}} : tensor<100x100xf32>)
func.func @a_large_tensor_is_updated_by_way_of_columns(
    %x: tensor<100x100xf32>, %y: tensor<50x20xf32>, %i: index, %j: index) -> tensor<100x100xf32> {
  %z = tensor.insert_slice %y into %x[%i, %j] [50, 20] [1, 1] : tensor<50x20xf32> into tensor<100x100xf32>
  return %z : tensor<100x100xf32>
}

// CHECK-LABEL: func.func @a_long_vector_is_sliced_as_rows_and_columns
// CHECK-DAG: arith.divui
// CHECK-DAG: arith.remui
// CHECK: linalg.generic
// CHECK: } -> tensor<130x256xf32>
// CHECK: linalg.generic
// CHECK: } -> tensor<129x256xf32>
func.func @a_long_vector_is_sliced_as_rows_and_columns(%x: tensor<50000xf32>, %i: index) -> tensor<32770xf32> {
  %y = tensor.extract_slice %x[%i] [32770] [1] : tensor<50000xf32> to tensor<32770xf32>
  return %y : tensor<32770xf32>
}
