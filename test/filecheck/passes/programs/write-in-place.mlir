// RUN: ipu-opt %s --ipu-write-in-place | filecheck %s

#id = affine_map<(i) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @last_reader_writes_over_the_variable
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4xf32, #m{{[0-9]+}}> {ipu.variable = @w}
// CHECK: linalg.exp ins(%[[W]]
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[W]], %{{.*}}) outs(%[[W]] :
func.func @last_reader_writes_over_the_variable(%w: tensor<4xf32, #home> {ipu.variable = @w})
    -> (tensor<4xf32, #home> {ipu.variable = @w}) {
  %e = tensor.empty() : tensor<4xf32, #home>
  %f = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%w, %y : tensor<4xf32, #home>, tensor<4xf32, #home>) outs(%f : tensor<4xf32, #home>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32, #home>
  return %z : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func private @what_callers_pass
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4xf32, #m{{[0-9]+}}> {ipu.updated = 0 : i64}, %[[X:[a-z0-9]*]]: tensor
// CHECK: linalg.exp ins(%[[W]] {{.*}} outs(%[[W]] :
// CHECK: linalg.exp ins(%[[X]] {{.*}} outs(%{{[0-9]+}} :
func.func private @what_callers_pass(%w: tensor<4xf32, #home> {ipu.updated = 0 : i64}, %x: tensor<4xf32, #home>)
    -> (tensor<4xf32, #home>, tensor<4xf32, #home> {ipu.updated = 0 : i64}) {
  %e = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  %z = linalg.exp ins(%x : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  return %z, %y : tensor<4xf32, #home>, tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @row_that_is_stored_again
// CHECK: %[[A:.*]] = "ipu.remote_load"
// CHECK: %[[B:.*]] = "ipu.remote_load"
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.exp ins(%[[A]] {{.*}} outs(%[[A]] :
// CHECK: linalg.exp ins(%[[B]] {{.*}} outs(%[[E]] :
func.func @row_that_is_stored_again(%i: index) -> tensor<4xf32, #home> {
  %zero = arith.constant 0 : index
  %a = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<4xf32, #home>
  %b = "ipu.remote_load"(%zero) {buffer = @b} : (index) -> tensor<4xf32, #home>
  %e = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%a : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  %z = linalg.exp ins(%b : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  "ipu.remote_store"(%y, %i) {buffer = @b} : (tensor<4xf32, #home>, index) -> ()
  "ipu.remote_store"(%b, %zero) {buffer = @b} : (tensor<4xf32, #home>, index) -> ()
  return %z : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @row_that_is_loaded_after_its_new_value
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.exp {{.*}} outs(%[[E]] :
// CHECK: "ipu.remote_load"
func.func @row_that_is_loaded_after_its_new_value(%x: tensor<4xf32, #home>, %i: index) -> tensor<4xf32, #home> {
  %e = tensor.empty() : tensor<4xf32, #home>
  %f = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%x : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  %a = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<4xf32, #home>
  %z = linalg.add ins(%a, %y : tensor<4xf32, #home>, tensor<4xf32, #home>)
      outs(%f : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  "ipu.remote_store"(%y, %i) {buffer = @b} : (tensor<4xf32, #home>, index) -> ()
  return %z : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @value_that_is_returned_stays
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.exp {{.*}} outs(%[[E]] :
func.func @value_that_is_returned_stays(%w: tensor<4xf32, #home> {ipu.variable = @w})
    -> (tensor<4xf32, #home>, tensor<4xf32, #home> {ipu.variable = @w}) {
  %e = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  return %w, %y : tensor<4xf32, #home>, tensor<4xf32, #home>
}

// What comes from another mapping is copied to where the variable lies.
// CHECK-LABEL: func.func @copy_goes_to_the_variable
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4xf32, #m{{[0-9]+}}> {ipu.variable = @w}
// CHECK: linalg.copy {{.*}} outs(%[[W]] :
func.func @copy_goes_to_the_variable(%x: tensor<4xf32, #one>, %w: tensor<4xf32, #home> {ipu.variable = @w})
    -> (tensor<4xf32, #home> {ipu.variable = @w}) {
  %e = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.copy ins(%x : tensor<4xf32, #one>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  return %y : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @sum_begins_in_the_variable
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<2xf32, #m{{[0-9]+}}> {ipu.variable = @w}
// CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%[[W]] :
// CHECK: linalg.reduce {{.*}} outs(%[[F]] :
#two = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 0>
func.func @sum_begins_in_the_variable(%x: tensor<2x2xf32, #one>, %w: tensor<2xf32, #two> {ipu.variable = @w})
    -> (tensor<2xf32, #two> {ipu.variable = @w}) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32, #two>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32, #two>) -> tensor<2xf32, #two>
  %y = linalg.reduce ins(%x : tensor<2x2xf32, #one>) outs(%f : tensor<2xf32, #two>) dimensions = [1]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  return %y : tensor<2xf32, #two>
}

// CHECK-LABEL: func.func @operand_read_in_another_order_stays
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[E]] :
func.func @operand_read_in_another_order_stays(%w: tensor<2x2xf32, #one> {ipu.variable = @w})
    -> (tensor<2x2xf32, #one> {ipu.variable = @w}) {
  %e = tensor.empty() : tensor<2x2xf32, #one>
  %y = linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<2x2xf32, #one>) outs(%e : tensor<2x2xf32, #one>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x2xf32, #one>
  return %y : tensor<2x2xf32, #one>
}

// CHECK-LABEL: func.func @view_that_is_read_meanwhile_keeps_it
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[E]] :
func.func @view_that_is_read_meanwhile_keeps_it(%w: tensor<4xf32, #one> {ipu.variable = @w})
    -> (tensor<4xf32, #one> {ipu.variable = @w}) {
  %e = tensor.empty() : tensor<4xf32, #one>
  %v = tensor.expand_shape %w [[0, 1]] output_shape [2, 2] : tensor<4xf32, #one> into tensor<2x2xf32, #one>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (0, 0)>, #id], iterator_types = ["parallel"]}
      ins(%v : tensor<2x2xf32, #one>) outs(%e : tensor<4xf32, #one>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32, #one>
  return %y : tensor<4xf32, #one>
}

// CHECK-LABEL: func.func @codelet_does_not_write_over_what_it_reads
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[E]] :
func.func @codelet_does_not_write_over_what_it_reads(%w: tensor<4xf32, #one> {ipu.variable = @w})
    -> (tensor<4xf32, #one> {ipu.variable = @w}) {
  %e = tensor.empty() : tensor<4xf32, #one>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], library_call = "sort"}
      ins(%w : tensor<4xf32, #one>) outs(%e : tensor<4xf32, #one>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32, #one>
  return %y : tensor<4xf32, #one>
}

// CHECK-LABEL: func.func @loop_writes_over_the_variable_that_it_carries
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}})
// CHECK: linalg.exp ins(%[[A]] {{.*}} outs(%[[A]] :
func.func @loop_writes_over_the_variable_that_it_carries(%x: tensor<4xf32, #home> {ipu.variable = @w}, %n: index)
    -> (tensor<4xf32, #home> {ipu.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32, #home> {
    %e = tensor.empty() : tensor<4xf32, #home>
    %y = linalg.exp ins(%a : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %y : tensor<4xf32, #home>
  }
  return %r : tensor<4xf32, #home>
}

// What is computed before the loop is there in every iteration, and cannot be what the loop carries.
// CHECK-LABEL: func.func @what_stands_before_a_loop_keeps_its_place
// CHECK-COUNT-2: %{{.*}} = tensor.empty
// CHECK: linalg.exp {{.*}} outs(%[[E:.*]] :
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}})
// CHECK: linalg.abs {{.*}} outs(%[[A]] :
func.func @what_stands_before_a_loop_keeps_its_place(%w: tensor<4xf32, #home> {ipu.variable = @w}, %n: index)
    -> (tensor<4xf32, #home> {ipu.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32, #home>
  %f = tensor.empty() : tensor<4xf32, #home>
  %y = linalg.exp ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %w) -> tensor<4xf32, #home> {
    %z = linalg.abs ins(%y : tensor<4xf32, #home>) outs(%f : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %z : tensor<4xf32, #home>
  }
  return %r : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @while_writes_over_what_its_condition_hands_on
// CHECK: ^bb0(%[[A:.*]]: tensor<4xf32
// CHECK: linalg.exp ins(%[[A]] {{.*}} outs(%[[A]] :
func.func @while_writes_over_what_its_condition_hands_on(%x: tensor<4xf32, #home> {ipu.variable = @w}, %go: i1)
    -> (tensor<4xf32, #home> {ipu.variable = @w}) {
  %r = scf.while (%b = %x) : (tensor<4xf32, #home>) -> tensor<4xf32, #home> {
    scf.condition(%go) %b : tensor<4xf32, #home>
  } do {
  ^bb0(%a: tensor<4xf32, #home>):
    %e = tensor.empty() : tensor<4xf32, #home>
    %y = linalg.exp ins(%a : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %y : tensor<4xf32, #home>
  }
  return %r : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @what_else_a_loop_carries_has_two_places
// CHECK: scf.for
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.exp {{.*}} outs(%[[E]] :
func.func @what_else_a_loop_carries_has_two_places(%x: tensor<4xf32, #home>, %n: index) -> tensor<4xf32, #home> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32, #home> {
    %e = tensor.empty() : tensor<4xf32, #home>
    %y = linalg.exp ins(%a : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %y : tensor<4xf32, #home>
  }
  return %r : tensor<4xf32, #home>
}

// One arm makes the next value, the other leaves the old one: a copy of it, which a branch needs otherwise, is not made.
// CHECK-LABEL: func.func @branch_writes_over_the_variable
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4xf32, #m{{[0-9]+}}> {ipu.variable = @w}
// CHECK: %[[R:.*]] = scf.if
// CHECK: %[[Y:.*]] = linalg.exp ins(%[[W]] {{.*}} outs(%[[W]] :
// CHECK: scf.yield %[[Y]]
// CHECK: else
// CHECK-NOT: linalg.copy
// CHECK: scf.yield %[[W]]
// CHECK: linalg.abs ins(%[[R]] {{.*}} outs(%[[R]] :
func.func @branch_writes_over_the_variable(%w: tensor<4xf32, #home> {ipu.variable = @w}, %c: i1)
    -> (tensor<4xf32, #home> {ipu.variable = @w}) {
  %r = scf.if %c -> tensor<4xf32, #home> {
    %e = tensor.empty() : tensor<4xf32, #home>
    %y = linalg.exp ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %y : tensor<4xf32, #home>
  } else {
    %e = tensor.empty() : tensor<4xf32, #home>
    %y = linalg.copy ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %y : tensor<4xf32, #home>
  }
  %f = tensor.empty() : tensor<4xf32, #home>
  %z = linalg.abs ins(%r : tensor<4xf32, #home>) outs(%f : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  return %z : tensor<4xf32, #home>
}

// CHECK-LABEL: func.func @what_is_read_after_the_branch_keeps_both
// CHECK: scf.if
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.exp {{.*}} outs(%[[E]] :
// CHECK: else
// CHECK: linalg.copy
func.func @what_is_read_after_the_branch_keeps_both(%w: tensor<4xf32, #home> {ipu.variable = @w}, %c: i1)
    -> (tensor<4xf32, #home>, tensor<4xf32, #home> {ipu.variable = @w}) {
  %r = scf.if %c -> tensor<4xf32, #home> {
    %e = tensor.empty() : tensor<4xf32, #home>
    %y = linalg.exp ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %y : tensor<4xf32, #home>
  } else {
    %e = tensor.empty() : tensor<4xf32, #home>
    %y = linalg.copy ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %y : tensor<4xf32, #home>
  }
  %f = tensor.empty() : tensor<4xf32, #home>
  %z = linalg.abs ins(%w : tensor<4xf32, #home>) outs(%f : tensor<4xf32, #home>) -> tensor<4xf32, #home>
  return %z, %r : tensor<4xf32, #home>, tensor<4xf32, #home>
}

// What a branch of a loop may leave as it is is no variable, but written over as one: its copy would be in vain.
// CHECK-LABEL: func.func @what_a_branch_may_leave_is_written_over
// CHECK: iter_args(%[[C:.*]] =
// CHECK: scf.if
// CHECK: linalg.exp ins(%[[C]] {{.*}} outs(%[[C]] :
// CHECK: else
// CHECK-NOT: linalg.copy
// CHECK: scf.yield %[[C]]
func.func @what_a_branch_may_leave_is_written_over(%x: tensor<4xf32, #home>, %c: i1) -> tensor<4xf32, #home> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%w = %x) -> tensor<4xf32, #home> {
    %b = scf.if %c -> tensor<4xf32, #home> {
      %e = tensor.empty() : tensor<4xf32, #home>
      %y = linalg.exp ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
      scf.yield %y : tensor<4xf32, #home>
    } else {
      %e = tensor.empty() : tensor<4xf32, #home>
      %y = linalg.copy ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
      scf.yield %y : tensor<4xf32, #home>
    }
    scf.yield %b : tensor<4xf32, #home>
  }
  return %r : tensor<4xf32, #home>
}

// What a loop always computes anew stays in two places.
// CHECK-LABEL: func.func @what_is_always_new_keeps_both
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.exp {{.*}} outs(%[[E]] :
func.func @what_is_always_new_keeps_both(%x: tensor<4xf32, #home>) -> tensor<4xf32, #home> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%w = %x) -> tensor<4xf32, #home> {
    %e = tensor.empty() : tensor<4xf32, #home>
    %y = linalg.exp ins(%w : tensor<4xf32, #home>) outs(%e : tensor<4xf32, #home>) -> tensor<4xf32, #home>
    scf.yield %y : tensor<4xf32, #home>
  }
  return %r : tensor<4xf32, #home>
}
