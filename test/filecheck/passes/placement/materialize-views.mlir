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

// CHECK-LABEL: func.func @slice_that_is_read_after_an_update_is_copied_before_it
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.copy {{.*}}ins(%[[S]] : tensor<2xf32>)
// CHECK: tensor.insert_slice
// CHECK: linalg.exp ins(%[[C]]
func.func @slice_that_is_read_after_an_update_is_copied_before_it(%new: tensor<1xf32>, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<2xf32>
  %y = linalg.log ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = tensor.extract_slice %y[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %z = tensor.insert_slice %new into %y[1] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %t = linalg.exp ins(%s : tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %z, %t : tensor<4xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @slice_that_is_read_before_an_update_stays
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @slice_that_is_read_before_an_update_stays(%new: tensor<1xf32>, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<2xf32>
  %y = linalg.log ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = tensor.extract_slice %y[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %t = linalg.exp ins(%s : tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  %z = tensor.insert_slice %new into %y[1] [1] [1] : tensor<1xf32> into tensor<4xf32>
  return %z, %t : tensor<4xf32>, tensor<2xf32>
}

// Arguments are never updated in place.
// CHECK-LABEL: func.func @slice_of_an_argument_stays
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @slice_of_an_argument_stays(%new: tensor<1xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %f = tensor.empty() : tensor<2xf32>
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %z = tensor.insert_slice %new into %x[1] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %t = linalg.exp ins(%s : tensor<2xf32>) outs(%f : tensor<2xf32>) -> tensor<2xf32>
  return %z, %t : tensor<4xf32>, tensor<2xf32>
}

// The loop may update what it starts from, and the next iteration would read that.
// CHECK-LABEL: func.func @slice_that_a_loop_reads_while_it_updates_the_tensor_is_copied
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.copy {{.*}}ins(%[[S]] : tensor<2xf32>)
// CHECK: scf.for
// CHECK: tensor.insert_slice %[[C]]
func.func @slice_that_a_loop_reads_while_it_updates_the_tensor_is_copied(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.log ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = tensor.extract_slice %y[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %y) -> tensor<4xf32> {
    %z = tensor.insert_slice %s into %t[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @tensor_that_is_put_together_stays
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @tensor_that_is_put_together_stays(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = tensor.insert_slice %a into %e[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %z = tensor.insert_slice %b into %y[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_branch_leaves_no_tensor_from_outside_where_the_other_leaves_a_new_one
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK: scf.if
// CHECK: %[[Y:.*]] = linalg.exp
// CHECK-NEXT: scf.yield %[[Y]]
// CHECK: %[[C:.*]] = linalg.copy {{.*}}ins(%[[X]]
// CHECK-NEXT: scf.yield %[[C]]
func.func @a_branch_leaves_no_tensor_from_outside_where_the_other_leaves_a_new_one(%x: tensor<4xf32>, %p: i1)
    -> tensor<4xf32> {
  %r = scf.if %p -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @branches_that_leave_different_tensors_copy_both
// CHECK: scf.if
// CHECK: linalg.copy
// CHECK-NEXT: scf.yield
// CHECK: linalg.copy
// CHECK-NEXT: scf.yield
func.func @branches_that_leave_different_tensors_copy_both(%x: tensor<4xf32>, %y: tensor<4xf32>, %s: tensor<2xf32>,
    %p: i1) -> tensor<4xf32> {
  %r = scf.if %p -> tensor<4xf32> {
    %z = tensor.insert_slice %s into %x[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_tensor_that_one_branch_updates_and_the_other_leaves_is_one_memory
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @a_tensor_that_one_branch_updates_and_the_other_leaves_is_one_memory(%x: tensor<4xf32>, %s: tensor<2xf32>,
    %p: i1, %q: i1, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.if %p -> tensor<4xf32> {
    %inner = scf.if %q -> tensor<4xf32> {
      %looped = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<4xf32> {
        %z = linalg.exp ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
        scf.yield %z : tensor<4xf32>
      }
      scf.yield %looped : tensor<4xf32>
    } else {
      %z = tensor.insert_slice %s into %x[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
      scf.yield %z : tensor<4xf32>
    }
    scf.yield %inner : tensor<4xf32>
  } else {
    %looped = scf.while (%y = %x) : (tensor<4xf32>) -> tensor<4xf32> {
      scf.condition(%q) %y : tensor<4xf32>
    } do {
    ^bb0(%y: tensor<4xf32>):
      scf.yield %y : tensor<4xf32>
    }
    scf.yield %looped : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @loops_hand_on_no_tensor_from_outside
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK: scf.while
// CHECK: %[[A:.*]] = linalg.exp
// CHECK: scf.condition(%{{.*}}) %[[A]]
// CHECK: %[[C:.*]] = linalg.copy
// CHECK-NEXT: scf.yield %[[C]]
// CHECK: scf.for
// CHECK: %[[D:.*]] = linalg.copy {{.*}}ins(%[[X]]
// CHECK-NEXT: scf.yield %{{.*}}, %[[D]]
func.func @loops_hand_on_no_tensor_from_outside(%x: tensor<4xf32>, %p: i1, %n: index) -> tensor<4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.while (%y = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %z = linalg.exp ins(%y : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
    scf.condition(%p) %z : tensor<4xf32>
  } do {
  ^bb0(%y: tensor<4xf32>):
    scf.yield %zeros : tensor<4xf32>
  }
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %r, %z = %r) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %z, %x : tensor<4xf32>, tensor<4xf32>
  }
  return %s#0 : tensor<4xf32>
}

"ipu.outfeed"() {sym_name = "q", types = [tensor<2xf32>], mode = "all"} : () -> ()
"ipu.remote_buffer"() {sym_name = "t", type = tensor<10x2xf32>, memory = "host"} : () -> ()

// CHECK-LABEL: func.func @what_goes_to_the_host_or_to_replicas_is_copied
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[A:.*]] = linalg.copy {{.*}}ins(%[[S]]
// CHECK: "ipu.put"(%[[A]])
// CHECK: %[[B:.*]] = linalg.copy {{.*}}ins(%[[S]]
// CHECK: "ipu.all_reduce"(%[[B]])
// CHECK: %[[R:.*]] = tensor.extract_slice
// CHECK: %[[C:.*]] = linalg.copy {{.*}}ins(%[[R]]
// CHECK: "ipu.host_gather"(%[[C]])
func.func @what_goes_to_the_host_or_to_replicas_is_copied(%x: tensor<4xf32>, %k: tensor<4xi32>)
    -> (tensor<2xf32>, tensor<3x2xf32>) {
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  "ipu.put"(%s) {queue = @q, index = 0 : i64} : (tensor<2xf32>) -> ()
  "ipu.enqueue"() {queue = @q} : () -> ()
  %y = "ipu.all_reduce"(%s) {op = "add"} : (tensor<2xf32>) -> tensor<2xf32>
  %r = tensor.extract_slice %k[0] [3] [1] : tensor<4xi32> to tensor<3xi32>
  %z = "ipu.host_gather"(%r) {buffer = @t} : (tensor<3xi32>) -> tensor<3x2xf32>
  return %y, %z : tensor<2xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: func.func @what_moves_to_another_place_is_a_view
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @what_moves_to_another_place_is_a_view(%x: tensor<4xf32>) -> tensor<2xf32> {
  %s = tensor.extract_slice %x[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %y = "ipu.to_shard"(%s) {shard = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @whole_tensors_go_as_they_are
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @whole_tensors_go_as_they_are(%x: tensor<2x1xf32>) {
  %s = tensor.collapse_shape %x [[0, 1]] : tensor<2x1xf32> into tensor<2xf32>
  "ipu.put"(%s) {queue = @q, index = 0 : i64} : (tensor<2xf32>) -> ()
  "ipu.enqueue"() {queue = @q} : () -> ()
  return
}

// CHECK-LABEL: func.func @part_of_a_variable_that_is_assigned
// CHECK-SAME: (%[[W:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[P:.*]] = tensor.extract_slice %[[W]][3]
// CHECK: %[[C:.*]] = linalg.copy ins(%[[P]]
// CHECK: tensor.insert_slice %{{.*}} into %[[W]][0]
// CHECK: tensor.insert_slice %[[C]] into
func.func @part_of_a_variable_that_is_assigned(%w: tensor<4xf32> {ipu.variable = @w}, %x: tensor<1xf32>)
    -> (tensor<4xf32> {ipu.variable = @w}) {
  %last = tensor.extract_slice %w[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %y = tensor.insert_slice %x into %w[0] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %z = tensor.insert_slice %last into %y[1] [1] [1] : tensor<1xf32> into tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @part_of_a_variable_that_is_read
// CHECK-NOT: linalg.copy
func.func @part_of_a_variable_that_is_read(%w: tensor<4xf32> {ipu.variable = @w}, %x: tensor<1xf32>) -> tensor<4xf32> {
  %last = tensor.extract_slice %w[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %y = tensor.insert_slice %x into %w[0] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %z = tensor.insert_slice %last into %y[1] [1] [1] : tensor<1xf32> into tensor<4xf32>
  return %z : tensor<4xf32>
}

// As slices they would have layouts of their own, and what the branch gives one that is known at run time only.
// CHECK-LABEL: func.func @slice_of_all_is_a_reshape
// CHECK: scf.if
// CHECK: %[[W:.*]] = linalg.exp
// CHECK-NEXT: %[[S:.*]] = tensor.collapse_shape %[[W]] {{\[\[}}0, 1, 2]] : tensor<1x3x1xf32> into tensor<3xf32>
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: %[[V:.*]] = linalg.exp
// CHECK-NEXT: scf.yield %[[V]]
func.func @slice_of_all_is_a_reshape(%x: tensor<3xf32>, %y: tensor<1x3x1xf32>, %i: index, %p: i1) -> tensor<3xf32> {
  %r = scf.if %p -> tensor<3xf32> {
    %e = tensor.empty() : tensor<1x3x1xf32>
    %w = linalg.exp ins(%y : tensor<1x3x1xf32>) outs(%e : tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
    %s = tensor.extract_slice %w[%i, 0, 0] [1, 3, 1] [1, 1, 2] : tensor<1x3x1xf32> to tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  } else {
    %f = tensor.empty() : tensor<3xf32>
    %v = linalg.exp ins(%x : tensor<3xf32>) outs(%f : tensor<3xf32>) -> tensor<3xf32>
    %s = tensor.extract_slice %v[0] [3] [1] : tensor<3xf32> to tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @slice_of_the_only_element
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1x1xf32> into tensor<f32>
// CHECK: return
func.func @slice_of_the_only_element(%x: tensor<1x1xf32>) -> tensor<f32> {
  %s = tensor.extract_slice %x[0, 0] [1, 1] [1, 1] : tensor<1x1xf32> to tensor<f32>
  return %s : tensor<f32>
}
