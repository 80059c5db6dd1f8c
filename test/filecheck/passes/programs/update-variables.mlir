// RUN: ipu-opt %s --ipu-update-variables | filecheck %s

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @new_value_is_copied_at_the_end(
// CHECK-SAME: %[[X:.*]]: memref<4xf32, #{{.*}}>, %[[W:.*]]: memref<4xf32, #{{.*}}> {ipu.variable = @w}) {
// CHECK: memref.copy %[[X]], %[[W]]
// CHECK-NEXT: return
func.func @new_value_is_copied_at_the_end(%x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w})
    -> (memref<4xf32, #one> {ipu.variable = @w}) {
  return %x : memref<4xf32, #one>
}

// CHECK-LABEL: func.func @value_in_its_place_is_not_copied(
// CHECK-NEXT: return
func.func @value_in_its_place_is_not_copied(%w: memref<4xf32, #one> {ipu.variable = @w})
    -> (memref<4xf32, #one> {ipu.variable = @w}) {
  return %w : memref<4xf32, #one>
}

// CHECK-LABEL: func.func @loop_that_hands_on_the_variable_is_not_copied(
// CHECK: scf.for
// CHECK-NOT: memref.copy
// CHECK: return
func.func @loop_that_hands_on_the_variable_is_not_copied(%n: index, %w: memref<4xf32, #one> {ipu.variable = @w})
    -> (memref<4xf32, #one> {ipu.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %w) -> memref<4xf32, #one> {
    scf.yield %a : memref<4xf32, #one>
  }
  return %r : memref<4xf32, #one>
}

// CHECK-LABEL: func.func @old_value_is_given_back_from_a_copy(
// CHECK-SAME: %[[X:.*]]: memref<4xf32, #{{.*}}>, %[[W:.*]]: memref<4xf32, #{{.*}}> {ipu.variable = @w})
// CHECK-SAME: -> memref<4xf32, #{{.*}}> {
// CHECK: %[[OLD:.*]] = memref.alloc
// CHECK: memref.copy %[[W]], %[[OLD]]
// CHECK: memref.copy %[[X]], %[[W]]
// CHECK-NEXT: return %[[OLD]]
func.func @old_value_is_given_back_from_a_copy(%x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w})
    -> (memref<4xf32, #one>, memref<4xf32, #one> {ipu.variable = @w}) {
  return %w, %x : memref<4xf32, #one>, memref<4xf32, #one>
}

// CHECK-LABEL: func.func @variables_change_places(
// CHECK-SAME: %[[W:.*]]: memref<4xf32, #{{.*}}> {ipu.variable = @w}, %[[V:.*]]: memref<4xf32, #{{.*}}> {ipu.variable = @v})
// CHECK: %[[OLD_V:.*]] = memref.alloc
// CHECK: memref.copy %[[V]], %[[OLD_V]]
// CHECK: %[[OLD_W:.*]] = memref.alloc
// CHECK: memref.copy %[[W]], %[[OLD_W]]
// CHECK: memref.copy %[[OLD_V]], %[[W]]
// CHECK: memref.copy %[[OLD_W]], %[[V]]
func.func @variables_change_places(%w: memref<4xf32, #one> {ipu.variable = @w}, %v: memref<4xf32, #one> {ipu.variable = @v})
    -> (memref<4xf32, #one> {ipu.variable = @w}, memref<4xf32, #one> {ipu.variable = @v}) {
  return %v, %w : memref<4xf32, #one>, memref<4xf32, #one>
}

// CHECK-LABEL: func.func @what_a_branch_may_choose_is_moved_aside(
// CHECK: %[[R:.*]] = scf.if
// CHECK: %[[ASIDE:.*]] = memref.alloc
// CHECK: memref.copy %[[R]], %[[ASIDE]]
// CHECK: memref.copy %{{.*}}, %[[V:.*]] :
// CHECK: memref.copy %[[ASIDE]], %{{.*}}
func.func @what_a_branch_may_choose_is_moved_aside(%c: i1, %x: memref<4xf32, #one>,
    %v: memref<4xf32, #one> {ipu.variable = @v}, %w: memref<4xf32, #one> {ipu.variable = @w})
    -> (memref<4xf32, #one> {ipu.variable = @v}, memref<4xf32, #one> {ipu.variable = @w}) {
  %r = scf.if %c -> memref<4xf32, #one> {
    scf.yield %v : memref<4xf32, #one>
  } else {
    scf.yield %x : memref<4xf32, #one>
  }
  return %x, %r : memref<4xf32, #one>, memref<4xf32, #one>
}
