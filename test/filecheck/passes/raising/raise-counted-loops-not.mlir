// RUN: ipu-opt %s --ipu-raise-counted-loops | filecheck %s
// Loops whose rounds constants do not decide stay as they are.

// CHECK-LABEL: func.func @limit_from_outside
// CHECK: scf.while
func.func @limit_from_outside(%end: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %end : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %n = arith.addi %i, %c1 : i32
    scf.yield %n : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @something_else_stops_it
// CHECK: scf.while
func.func @something_else_stops_it(%x: f32) -> (i32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %tiny = arith.constant 0.001 : f32
  %r:2 = scf.while (%i = %c0, %v = %x) : (i32, f32) -> (i32, f32) {
    %a = arith.cmpi slt, %i, %c9 : i32
    %b = arith.cmpf ogt, %v, %tiny : f32
    %c = arith.andi %a, %b : i1
    scf.condition(%c) %i, %v : i32, f32
  } do {
  ^bb0(%i: i32, %v: f32):
    %n = arith.addi %i, %c1 : i32
    %h = arith.mulf %v, %v : f32
    scf.yield %n, %h : i32, f32
  }
  return %r#0, %r#1 : i32, f32
}

// CHECK-LABEL: func.func @grows_by_data
// CHECK: scf.while
func.func @grows_by_data(%by: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c9 = arith.constant 9 : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %c9 : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %n = arith.addi %i, %by : i32
    scf.yield %n : i32
  }
  return %r : i32
}

// The counter of 8 bits would go past 127: it wraps around to -128 and goes on.
// CHECK-LABEL: func.func @wraps_around
// CHECK: scf.while
func.func @wraps_around() -> i8 {
  %c0 = arith.constant 0 : i8
  %c100 = arith.constant 100 : i8
  %c120 = arith.constant 120 : i8
  %r = scf.while (%i = %c0) : (i8) -> i8 {
    %c = arith.cmpi slt, %i, %c120 : i8
    scf.condition(%c) %i : i8
  } do {
  ^bb0(%i: i8):
    %n = arith.addi %i, %c100 : i8
    scf.yield %n : i8
  }
  return %r : i8
}

// The condition yields something else than what it was given.
// CHECK-LABEL: func.func @changed_by_the_condition
// CHECK: scf.while
func.func @changed_by_the_condition() -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    %c = arith.cmpi slt, %i, %c9 : i32
    %d = arith.muli %i, %i : i32
    scf.condition(%c) %d : i32
  } do {
  ^bb0(%i: i32):
    %n = arith.addi %i, %c1 : i32
    scf.yield %n : i32
  }
  return %r : i32
}

// A check in the condition also happens once after the last iteration.
// CHECK-LABEL: func.func @condition_that_asserts
// CHECK: scf.while
func.func @condition_that_asserts(%ok: i1) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %r = scf.while (%i = %c0) : (i32) -> i32 {
    cf.assert %ok, "no"
    %c = arith.cmpi slt, %i, %c9 : i32
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%i: i32):
    %n = arith.addi %i, %c1 : i32
    scf.yield %n : i32
  }
  return %r : i32
}
