// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @without_a_block() {
  // expected-error @below {{'ipu.compute_set' op needs one block of ipu.vertices, has 0 blocks}}
  "ipu.compute_set"() ({}) : () -> ()
  return
}

// -----

func.func @two_blocks() {
  // expected-error @below {{needs one block of ipu.vertices, has 2 blocks}}
  "ipu.compute_set"() ({
  ^first:
    "cf.br"()[^second] : () -> ()
  ^second:
    "cf.br"()[^second] : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @holds_something_else() {
  // expected-error @below {{holds arith.constant; only ipu.vertices may stand in a compute set}}
  "ipu.compute_set"() ({
    %c = arith.constant 1.0 : f32
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @holds_an_op_without_vertices(%x: memref<4xf32, #a>) {
  // expected-error @below {{holds linalg.exp; only ipu.vertices}}
  "ipu.compute_set"() ({
    linalg.exp ins(%x : memref<4xf32, #a>) outs(%x : memref<4xf32, #a>)
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @one_family_reads_what_another_writes(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #a>) {
  // expected-error @below {{has two families that meet in one buffer: 'exp_f32' writes what 'log_f32' reads (memref<4xf32, #ipu.mapping<4}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
    "ipu.vertices"() ({
      linalg.log ins(%y : memref<4xf32, #a>) outs(%z : memref<4xf32, #a>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @two_families_write_one_buffer(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>) {
  // expected-error @below {{'exp_f32' writes what 'log_f32' writes}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
    "ipu.vertices"() ({
      linalg.log ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @families_meet_in_one_element_of_two_views(%x: memref<4xf32, #a>, %c: f32) {
  %first = memref.subview %x[0] [3] [1] : memref<4xf32, #a> to memref<3xf32, strided<[1]>, #a>
  %last = memref.subview %x[2] [2] [1] : memref<4xf32, #a> to memref<2xf32, strided<[1], offset: 2>, #a>
  // expected-error @below {{'fill_f32' writes what 'fill_f32' writes}}
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%first : memref<3xf32, strided<[1]>, #a>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[3, 3, 0]], 0>} : () -> ()
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%last : memref<2xf32, strided<[1], offset: 2>, #a>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 2, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}
