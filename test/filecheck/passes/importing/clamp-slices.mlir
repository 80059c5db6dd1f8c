// RUN: ipu-opt %s --ipu-clamp-slices | filecheck %s

// CHECK-LABEL: func.func @slice_lies_inside_wherever_its_offset_points
// CHECK-SAME: (%[[X:.*]]: tensor<8x3xf32>, %[[I:.*]]: index)
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[LOW:.*]] = arith.maxsi %[[I]], %[[ZERO]]
// CHECK: %[[LAST:.*]] = arith.constant 6 : index
// CHECK: %[[AT:.*]] = arith.minsi %[[LOW]], %[[LAST]]
// CHECK: tensor.extract_slice %[[X]][%[[AT]], 0] [2, 3] [1, 1]
func.func @slice_lies_inside_wherever_its_offset_points(%x: tensor<8x3xf32>, %i: index) -> tensor<2x3xf32> {
  %y = tensor.extract_slice %x[%i, 0] [2, 3] [1, 1] : tensor<8x3xf32> to tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @steps_count
// CHECK: %[[LAST:.*]] = arith.constant 3 : index
// CHECK: %[[AT:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[AT]]] [3] [2]
func.func @steps_count(%x: tensor<3xf32>, %y: tensor<8xf32>, %i: index) -> tensor<8xf32> {
  %z = tensor.insert_slice %x into %y[%i] [3] [2] : tensor<3xf32> into tensor<8xf32>
  return %z : tensor<8xf32>
}

// CHECK-LABEL: func.func @every_dimension_has_its_own_limit
// CHECK: %[[FIRST:.*]] = arith.constant 4 : index
// CHECK: %[[A:.*]] = arith.minsi %{{.*}}, %[[FIRST]]
// CHECK: %[[SECOND:.*]] = arith.constant 2 : index
// CHECK: %[[B:.*]] = arith.minsi %{{.*}}, %[[SECOND]]
// CHECK: tensor.extract_slice %{{.*}}[%[[A]], 1, %[[B]]]
func.func @every_dimension_has_its_own_limit(%x: tensor<5x4x3xf32>, %i: index) -> tensor<1x2x1xf32> {
  %y = tensor.extract_slice %x[%i, 1, %i] [1, 2, 1] [1, 1, 1] : tensor<5x4x3xf32> to tensor<1x2x1xf32>
  return %y : tensor<1x2x1xf32>
}

// CHECK-LABEL: func.func @counter_that_stays_inside_costs_nothing
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: return
func.func @counter_that_stays_inside_costs_nothing(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c2 iter_args(%t = %y) -> tensor<8xf32> {
    %j = affine.apply affine_map<(d0) -> (6 - d0)>(%i)
    %s = tensor.extract_slice %x[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
    %u = tensor.insert_slice %s into %t[%j] [2] [1] : tensor<2xf32> into tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @offset_that_is_clamped_already_stays
// CHECK-COUNT-1: arith.maxsi
// CHECK-COUNT-1: arith.minsi
// CHECK-NOT: arith.m{{.*}}si
// CHECK: return
func.func @offset_that_is_clamped_already_stays(%x: tensor<8xf32>, %i: i32) -> tensor<2xf32> {
  %zero = arith.constant 0 : i32
  %last = arith.constant 6 : i32
  %low = arith.maxsi %i, %zero : i32
  %at = arith.minsi %low, %last : i32
  %j = arith.index_cast %at : i32 to index
  %y = tensor.extract_slice %x[%j] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @counter_that_leads_beyond_the_end_is_limited_there_only
// CHECK-NOT: arith.maxsi
// CHECK: arith.minsi
func.func @counter_that_leads_beyond_the_end_is_limited_there_only(%x: tensor<8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %y) -> tensor<4xf32> {
    %s = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @sum_that_may_wrap_around_is_limited
// CHECK: arith.addi
// CHECK: arith.maxsi
// CHECK: arith.minsi
func.func @sum_that_may_wrap_around_is_limited(%x: tensor<100xf32>, %i: i8) -> tensor<2xf32> {
  %zero = arith.constant 0 : i8
  %many = arith.constant 100 : i8
  %low = arith.maxsi %i, %zero : i8
  %sum = arith.addi %low, %many : i8
  %j = arith.index_cast %sum : i8 to index
  %y = tensor.extract_slice %x[%j] [2] [1] : tensor<100xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @static_slices_and_sizes_known_at_run_time_stay
// CHECK-NOT: arith.minsi
// CHECK: return
func.func @static_slices_and_sizes_known_at_run_time_stay(%x: tensor<8xf32>, %n: index) -> (tensor<2xf32>, tensor<?xf32>) {
  %y = tensor.extract_slice %x[3] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %z = tensor.extract_slice %x[%n] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  return %y, %z : tensor<2xf32>, tensor<?xf32>
}

// A single element is taken in steps of 1; all of a tensor is the tensor, also where a loop hands it on.
// CHECK-LABEL: @single_elements
// CHECK: tensor.extract_slice %{{.*}}[0] [1] [1] : tensor<1xf32> to tensor<1xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 3] [4, 1] [2, 1] : tensor<4x1xf32> into tensor<8x6xf32>
func.func @single_elements(%x: tensor<1xf32>, %y: tensor<4x1xf32>, %z: tensor<8x6xf32>) -> (tensor<1xf32>, tensor<8x6xf32>) {
  %0 = tensor.extract_slice %x[0] [1] [2] : tensor<1xf32> to tensor<1xf32>
  %1 = tensor.insert_slice %y into %z[0, 3] [4, 1] [2, 5] : tensor<4x1xf32> into tensor<8x6xf32>
  return %0, %1 : tensor<1xf32>, tensor<8x6xf32>
}
