// RUN: ipu-opt %s --ipu-check-assignments --split-input-file --verify-diagnostics

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @only_reads(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  // expected-error @below {{'ipu.compute_set' op writes variable @w, which the program does not assign behind it; write to a copy of it}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @after_the_mark(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  "ipu.assigned"() {argument = 2 : i64} : () -> ()
  // expected-error @below {{'ipu.compute_set' op writes variable @w, which the program does not assign behind it; write to a copy of it}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @arm_that_does_not_assign(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  scf.if %p {
    "ipu.assigned"() {argument = 2 : i64} : () -> ()
  } else {
    // expected-error @below {{'ipu.compute_set' op writes variable @w, which the program does not assign behind it; write to a copy of it}}
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
      }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
  }
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @before_a_branch_that_assigns_in_one_arm(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  // expected-error @below {{'ipu.compute_set' op writes variable @w, which the program does not assign behind it; write to a copy of it}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  scf.if %p {
    "ipu.assigned"() {argument = 2 : i64} : () -> ()
  }
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @before_a_loop_that_may_run_no_round(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'ipu.compute_set' op writes variable @w, which the program does not assign behind it; write to a copy of it}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  scf.for %i = %c0 to %c1 step %c1 {
    "ipu.assigned"() {argument = 2 : i64} : () -> ()
  }
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @part_by_another_name(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  %r = scf.if %p -> memref<4xf32, #one> {
    scf.yield %w : memref<4xf32, #one>
  } else {
    %e = memref.alloc() : memref<4xf32, #one>
    scf.yield %e : memref<4xf32, #one>
  }
  // expected-error @below {{'ipu.compute_set' op writes variable @w, which the program does not assign behind it; write to a copy of it}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%r : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @calls(%p: i1, %x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.variable = @w}) {
  // expected-error @below {{'func.call' op writes variable @w, which the program does not assign behind it}}
  func.call @updates(%w) : (memref<4xf32, #one>) -> ()
  return
}
func.func private @updates(%w: memref<4xf32, #one> {ipu.updated = 0 : i64}) {
  // expected-error @below {{'ipu.compute_set' op writes argument 0, a variable, which the program does not assign}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%w : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}
