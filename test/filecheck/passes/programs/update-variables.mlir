// RUN: ipu-opt %s --ipu-update-variables | filecheck %s

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @new_value_is_copied_at_the_end(
// CHECK-SAME: %[[X:.*]]: memref<4xf32, #{{.*}}>, %[[W:.*]]: memref<4xf32, #{{.*}}> {ipu.variable = @w}) {
// CHECK: memref.copy %[[X]], %[[W]]
// CHECK-NEXT: "ipu.assigned"() {argument = 1 : i64}
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
// CHECK: return %[[OLD]]
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

// What an outlined function has written to the memory that it was handed is there, and no result any more.
// CHECK-LABEL: func.func @calls(
// CHECK-SAME: %[[X:.*]]: memref<4xf32, #{{.*}}>, %[[W:.*]]: memref<4xf32, #{{.*}}> {ipu.variable = @w})
// CHECK: %[[Y:.*]] = call @writes(%[[X]], %[[W]]) {ipu.outlined} : (memref<4xf32, #{{.*}}>, memref<4xf32, #{{.*}}>) -> memref<4xf32
// CHECK-NOT: memref.copy
// CHECK: return %[[Y]] :
func.func @calls(%x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w})
    -> (memref<4xf32, #one>, memref<4xf32, #one> {ipu.variable = @w}) {
  %r:2 = call @writes(%x, %w) {ipu.outlined} : (memref<4xf32, #one>, memref<4xf32, #one>) -> (memref<4xf32, #one>, memref<4xf32, #one>)
  return %r#1, %r#0 : memref<4xf32, #one>, memref<4xf32, #one>
}

// CHECK-LABEL: func.func private @writes(
// CHECK: return %[[E:.*]] :
func.func private @writes(%x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.updated = 0 : i64})
    -> (memref<4xf32, #one> {ipu.updated = 0 : i64}, memref<4xf32, #one>) {
  %e = memref.alloc() : memref<4xf32, #one>
  linalg.exp ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
  linalg.exp ins(%w : memref<4xf32, #one>) outs(%e : memref<4xf32, #one>)
  return %w, %e : memref<4xf32, #one>, memref<4xf32, #one>
}

// The caller knows the memory that it handed a function under its own name: what is given back is moved aside.
// CHECK-LABEL: func.func @calls_what_gives_an_argument_back(
// CHECK-SAME: %[[W:.*]]: memref<4xf32, #{{.*}}> {ipu.variable = @w})
// CHECK: %[[R:.*]] = call @gives_an_argument_back(%[[W]], %[[W]])
// CHECK: %[[OLD:.*]] = memref.alloc
// CHECK: memref.copy %[[W]], %[[OLD]]
// CHECK: memref.copy %[[R]], %[[W]]
// CHECK: return %[[OLD]]
func.func @calls_what_gives_an_argument_back(%w: memref<4xf32, #one> {ipu.variable = @w})
    -> (memref<4xf32, #one>, memref<4xf32, #one> {ipu.variable = @w}) {
  %r:2 = call @gives_an_argument_back(%w, %w) {ipu.outlined} : (memref<4xf32, #one>, memref<4xf32, #one>) -> (memref<4xf32, #one>, memref<4xf32, #one>)
  return %r#0, %r#1 : memref<4xf32, #one>, memref<4xf32, #one>
}

func.func private @gives_an_argument_back(%x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.updated = 0 : i64})
    -> (memref<4xf32, #one>, memref<4xf32, #one> {ipu.updated = 0 : i64}) {
  %e = memref.alloc() : memref<4xf32, #one>
  linalg.exp ins(%w : memref<4xf32, #one>) outs(%e : memref<4xf32, #one>)
  return %x, %e : memref<4xf32, #one>, memref<4xf32, #one>
}

// CHECK-LABEL: func.func @calls_what_may_give_an_argument_back(
// CHECK: call @may_give_an_argument_back(
func.func @calls_what_may_give_an_argument_back(%c: i1, %x: memref<4xf32, #one>) -> memref<4xf32, #one> {
  %r = call @may_give_an_argument_back(%c, %x) {ipu.outlined} : (i1, memref<4xf32, #one>) -> memref<4xf32, #one>
  return %r : memref<4xf32, #one>
}

// CHECK-LABEL: func.func private @may_give_an_argument_back(
// CHECK: %[[R:.*]] = scf.if
// CHECK: %[[ASIDE:.*]] = memref.alloc
// CHECK: memref.copy %[[R]], %[[ASIDE]]
// CHECK: return %[[ASIDE]]
func.func private @may_give_an_argument_back(%c: i1, %x: memref<4xf32, #one>) -> memref<4xf32, #one> {
  %e = memref.alloc() : memref<4xf32, #one>
  linalg.exp ins(%x : memref<4xf32, #one>) outs(%e : memref<4xf32, #one>)
  %r = scf.if %c -> memref<4xf32, #one> {
    scf.yield %x : memref<4xf32, #one>
  } else {
    scf.yield %e : memref<4xf32, #one>
  }
  return %r : memref<4xf32, #one>
}
