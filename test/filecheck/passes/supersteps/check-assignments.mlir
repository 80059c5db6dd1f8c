// RUN: ipu-opt %s --ipu-check-assignments | filecheck %s

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()

// CHECK-NOT: ipu.assigned

// CHECK-LABEL: func.func @write_before_the_mark
func.func @write_before_the_mark(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  "ipu.assigned"() {argument = 2 : i64} : () -> ()
  return
}

// CHECK-LABEL: func.func @arm_that_assigns
func.func @arm_that_assigns(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  scf.if %p {
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
      }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.assigned"() {argument = 2 : i64} : () -> ()
  }
  return
}

// What is written before a branch is assigned in both of its arms.
// CHECK-LABEL: func.func @both_arms_assign
func.func @both_arms_assign(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  scf.if %p {
    "ipu.assigned"() {argument = 2 : i64} : () -> ()
  } else {
    "ipu.assigned"() {argument = 2 : i64} : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @round_of_a_loop
func.func @round_of_a_loop(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
      }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.assigned"() {argument = 2 : i64} : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @loop_before_the_mark
func.func @loop_before_the_mark(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %w) -> memref<4xf32, #one> {
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.copy ins(%x : memref<4xf32, #one>) outs(%a : memref<4xf32, #one>)
      }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    scf.yield %a : memref<4xf32, #one>
  }
  "ipu.assigned"() {argument = 2 : i64} : () -> ()
  return
}

// CHECK-LABEL: func.func @other_memory
func.func @other_memory(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  %e = memref.alloc() : memref<4xf32, #one>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%e : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// CHECK-LABEL: func.func @calls
func.func @calls(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  func.call @updates(%x, %w) : (memref<4xf32, #one>, memref<4xf32, #one>) -> ()
  "ipu.assigned"() {argument = 2 : i64} : () -> ()
  return
}

// CHECK-LABEL: func.func private @updates
func.func private @updates(%x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.updated = 0 : i64}) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  "ipu.assigned"() {argument = 1 : i64} : () -> ()
  return
}

// CHECK-LABEL: func.func @calls_that_do_not_write
func.func @calls_that_do_not_write(%w: memref<4xf32, #one> {ipu.variable = @w}) {
  func.call @writes_nothing(%w) : (memref<4xf32, #one>) -> ()
  return
}

func.func private @writes_nothing(%w: memref<4xf32, #one> {ipu.updated = 0 : i64}) {
  return
}
