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

// CHECK-LABEL: func.func @update_at_a_run_time_offset_becomes_a_masked_update
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[Y:.*]]: tensor<8xf32>, %[[I:.*]]: index)
// CHECK-NOT: tensor.insert_slice
// CHECK: linalg.generic {{.*}} outs(%[[Y]] : tensor<8xf32>)
// CHECK: %[[DISTANCE:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[DISTANCE]]
// CHECK: %[[NEW:.*]] = tensor.extract %[[X]]
// CHECK: arith.select %[[INSIDE]], %[[NEW]]
func.func @update_at_a_run_time_offset_becomes_a_masked_update(
    %x: tensor<2xf32>, %y: tensor<8xf32>, %i: index) -> tensor<8xf32> {
  %z = tensor.insert_slice %x into %y[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
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
