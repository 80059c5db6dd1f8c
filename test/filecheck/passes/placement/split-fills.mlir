// RUN: ipu-opt %s --ipu-split-fills | filecheck %s

// CHECK-LABEL: func.func @each_user_fills_its_own
// CHECK-DAG: %[[A:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[A]]
// CHECK: %[[B:.*]] = linalg.fill
// CHECK: linalg.matmul {{.*}} outs(%[[B]]
func.func @each_user_fills_its_own(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %zero = linalg.fill ins(%c : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = linalg.matmul ins(%y, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @fills_do_not_share_an_empty_tensor
// CHECK-DAG: %[[E:.*]] = tensor.empty
// CHECK-DAG: linalg.fill {{.*}} outs(%[[E]]
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: linalg.fill {{.*}} outs(%[[F]]
// CHECK-NOT: tensor.empty
func.func @fills_do_not_share_an_empty_tensor(%c: f32, %d: f32) -> (tensor<2xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %z = linalg.fill ins(%d : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @one_user_that_takes_it_twice
// CHECK-COUNT-2: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK: linalg.add
func.func @one_user_that_takes_it_twice(%c: f32) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %f = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %z = linalg.add ins(%y, %y : tensor<2xf32>, tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func @fill_with_one_user_stays
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT: linalg.fill
func.func @fill_with_one_user_stays(%c: f32) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// The copy that bufferization would make of what both begin with would read the part that is still empty.
// CHECK-LABEL: func.func @tensors_that_begin_alike
// CHECK-SAME: (%[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}, %[[Z:[a-z0-9]+]]:
// CHECK-DAG: %[[E:.*]] = tensor.empty
// CHECK-DAG: %[[A:.*]] = tensor.insert_slice %[[X]] into %[[E]][0]
// CHECK: %[[B:.*]] = tensor.insert_slice %[[Y]] into %[[A]][2]
// CHECK: tensor.insert_slice %[[Y]] into %[[B]][4]
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: %[[C:.*]] = tensor.insert_slice %[[X]] into %[[F]][0]
// CHECK: %[[D:.*]] = tensor.insert_slice %[[Y]] into %[[C]][2]
// CHECK: tensor.insert_slice %[[Z]] into %[[D]][4]
func.func @tensors_that_begin_alike(%x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<2xf32>)
    -> (tensor<6xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<6xf32>
  %a = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %b = tensor.insert_slice %y into %a[2] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %c = tensor.insert_slice %y into %b[4] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %d = tensor.insert_slice %z into %b[4] [2] [1] : tensor<2xf32> into tensor<6xf32>
  return %c, %d : tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @update_of_a_full_tensor_reads_it
// CHECK-COUNT-3: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @update_of_a_full_tensor_reads_it(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %b = tensor.insert_slice %x into %a[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %c = tensor.insert_slice %x into %b[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @what_a_loop_fills_is_made_in_the_loop
// CHECK: scf.for
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%[[E]]
// CHECK: linalg.matmul {{.*}} outs(%[[F]]
func.func @what_a_loop_fills_is_made_in_the_loop(%x: tensor<2x2xf32>, %n: index) -> tensor<2x2xf32> {
  %c = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<2x2xf32>
  %zero = linalg.fill ins(%c : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<2x2xf32> {
    %z = linalg.matmul ins(%y, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %z : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @what_a_branch_fills_is_made_in_the_branch
// CHECK: scf.if
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %[[E]][0]
// CHECK: tensor.insert_slice %{{.*}} into %[[A]][2]
// CHECK: } else {
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: %[[B:.*]] = tensor.insert_slice %{{.*}} into %[[F]][0]
// CHECK: tensor.insert_slice %{{.*}} into %[[B]][2]
func.func @what_a_branch_fills_is_made_in_the_branch(%x: tensor<2xf32>, %y: tensor<2xf32>, %p: i1) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = tensor.insert_slice %x into %e[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %r = scf.if %p -> tensor<4xf32> {
    %b = tensor.insert_slice %x into %a[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    %b = tensor.insert_slice %y into %a[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// It is filled once and read in every iteration.
// CHECK-LABEL: func.func @a_fill_that_a_loop_only_reads_stays
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @a_fill_that_a_loop_only_reads_stays(%x: tensor<2xf32>, %c: f32, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<2xf32>
  %full = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<2xf32> {
    %z = linalg.add ins(%y, %full : tensor<2xf32>, tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
    scf.yield %z : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @what_a_loop_starts_from_is_made_before_it
// CHECK: tensor.empty
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @what_a_loop_starts_from_is_made_before_it(%x: tensor<2xf32>, %c: f32, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<2xf32>
  %full = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %full) -> tensor<2xf32> {
    %z = linalg.add ins(%y, %x : tensor<2xf32>, tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
    scf.yield %z : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @a_fill_of_a_fill_fills_what_was_there
// CHECK-SAME: (%[[A:.*]]: i64, %[[B:.*]]: i64, %[[X:.*]]: tensor<i64>)
// CHECK-NEXT: %[[FILLED:.*]] = linalg.fill ins(%[[B]] : i64) outs(%[[X]] : tensor<i64>)
// CHECK-NEXT: return %[[FILLED]]
func.func @a_fill_of_a_fill_fills_what_was_there(%a: i64, %b: i64, %x: tensor<i64>) -> tensor<i64> {
  %0 = linalg.fill ins(%a : i64) outs(%x : tensor<i64>) -> tensor<i64>
  %1 = linalg.fill ins(%b : i64) outs(%0 : tensor<i64>) -> tensor<i64>
  return %1 : tensor<i64>
}

// CHECK-LABEL: func.func @a_fill_of_a_view_of_nothing_fills_nothing
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x1xf32>
// CHECK-NEXT: linalg.fill ins(%{{.*}}) outs(%[[E]] : tensor<4x1xf32>)
func.func @a_fill_of_a_view_of_nothing_fills_nothing(%a: f32) -> tensor<4x1xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %v = tensor.expand_shape %e [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %r = linalg.fill ins(%a : f32) outs(%v : tensor<4x1xf32>) -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

// A part of what somebody gave is filled where it lies.
// CHECK-LABEL: func.func @a_fill_of_a_view_stays
// CHECK: %[[VIEW:.*]] = tensor.extract_slice
// CHECK-NEXT: linalg.fill ins(%{{.*}}) outs(%[[VIEW]] : tensor<2xf32>)
func.func @a_fill_of_a_view_stays(%a: f32, %x: tensor<4xf32>) -> tensor<4xf32> {
  %v = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %f = linalg.fill ins(%a : f32) outs(%v : tensor<2xf32>) -> tensor<2xf32>
  %r = tensor.insert_slice %f into %x[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %r : tensor<4xf32>
}
