// RUN: ipu-opt %s --ipu-check-supersteps --split-input-file --verify-diagnostics

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @load_outside_vertices(%x: memref<4xf32, #a>) {
  %i = arith.constant 0 : index
  // expected-error @below {{'memref.load' op touches memory outside ipu.vertices; run ipu-form-supersteps}}
  %v = memref.load %x[%i] : memref<4xf32, #a>
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @store_outside_vertices(%c: f32) {
  %i = arith.constant 0 : index
  %x = memref.alloc() : memref<4xf32, #a>
  // expected-error @below {{'memref.store' op touches memory outside ipu.vertices}}
  memref.store %c, %x[%i] : memref<4xf32, #a>
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#b = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @copy_outside_vertices(%x: memref<4xf32, #a>) {
  %y = memref.alloc() : memref<4xf32, #b>
  // expected-error @below {{'memref.copy' op touches memory outside ipu.vertices}}
  memref.copy %x, %y : memref<4xf32, #a> to memref<4xf32, #b>
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @structured_op_outside_vertices(%x: memref<4xf32, #a>) {
  %y = memref.alloc() : memref<4xf32, #a>
  // expected-error @below {{'linalg.exp' op touches memory outside ipu.vertices}}
  linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 3>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
// expected-error @below {{'func.func' op has argument 0 on tiles 3 to 4, but the target 'ipu2' has tiles 0 to 3: memref<4xf32}}
func.func @vertices_beyond_the_target(%x: memref<4xf32, #a>) {
  // expected-error @below {{'memref.alloc' op has result on tiles 3 to 4, but the target 'ipu2' has tiles 0 to 3}}
  %y = memref.alloc() : memref<4xf32, #a>
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op runs on tiles 3 to 4, but the target 'ipu2' has tiles 0 to 3}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 3>} : () -> ()
  }) : () -> ()
  return
}
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, -1]], 0, 0>
func.func @buffer_before_the_first_tile() {
  // expected-error @below {{has result on tiles -1 to 0, but the target 'ipu2' has tiles 0 to 1471}}
  %y = memref.alloc() : memref<4xf32, #a>
  return
}

// -----

func.func @buffer_without_mapping() {
  // expected-error @below {{'memref.alloc' op has result on no tile: memref<4xf32>; give it a #ipu.mapping as memory space}}
  %y = memref.alloc() : memref<4xf32>
  return
}

// -----

memref.global "private" constant @weights : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @constant_without_mapping() {
  // expected-error @below {{'memref.get_global' op has result on no tile: memref<4xf32>}}
  %w = memref.get_global @weights : memref<4xf32>
  return
}

// -----

// expected-error @below {{'func.func' op has argument 1 on no tile: memref<4xf32>}}
func.func @argument_without_mapping(%c: f32, %x: memref<4xf32>) {
  return
}

// -----

#a = #ipu.mapping<5, [[2, 5, 1, 1]], 0, 0>
func.func @mapping_of_the_wrong_size() {
  // expected-error @below {{has result of 4 elements with a mapping of 5: memref<4xf32}}
  %y = memref.alloc() : memref<4xf32, #a>
  return
}

// -----

#a = #ipu.mapping<4, [[2, 6, 1, 1]], 0, 0>
func.func @part_outside_its_tensor() {
  // expected-error @below {{has result with a mapping that names elements beyond its 4: memref<4xf32}}
  %y = memref.alloc() : memref<4xf32, #a>
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 0]], 0, 0>
func.func @two_parts_on_one_tile() {
  // expected-error @below {{has result with a mapping that puts two parts on one tile}}
  %y = memref.alloc() : memref<4xf32, #a>
  return
}

// -----

#a = #ipu.mapping<4, [[2, 2, 1, 0]], 0, 0>
// expected-error @below {{'func.func' op has argument 0 with elements on no tile: memref<4xf32}}
func.func @argument_with_a_dropped_part(%x: memref<4xf32, #a>) {
  return
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#b = #ipu.mapping<4, [[2, 2, 1, 0]], 0, 0>
func.func @result_with_a_dropped_part(%x: memref<4xf32, #a>) -> memref<4xf32, #b> {
  %y = memref.alloc() : memref<4xf32, #b>
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  // expected-error @below {{'func.return' op has result 0 with elements on no tile: memref<4xf32}}
  return %y : memref<4xf32, #b>
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @view_as_result(%x: memref<4xf32, #a>) -> memref<2xf32, strided<[1]>, #a> {
  %y = memref.subview %x[0] [2] [1] : memref<4xf32, #a> to memref<2xf32, strided<[1]>, #a>
  // expected-error @below {{'func.return' op has result 0 of 2 elements with a mapping of 4}}
  return %y : memref<2xf32, strided<[1]>, #a>
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @exchange_is_deleted() -> memref<4xf32, #a> {
  %x = memref.alloc() : memref<4xf32, #a>
  %y = memref.alloc() : memref<4xf32, #a>
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op reads a buffer that nothing has written before: memref<4xf32}}
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return %y : memref<4xf32, #a>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#b = #ipu.mapping<1, [], 0, 0>
func.func @fill_of_an_accumulator_is_deleted(%x: memref<4xf32, #a>) -> memref<f32, #b> {
  %y = memref.alloc() : memref<f32, #b>
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op reads a buffer that nothing has written before: memref<f32}}
    "ipu.vertices"() ({
      linalg.reduce {arith.addf} ins(%x : memref<4xf32, #a>) outs(%y : memref<f32, #b>) dimensions = [0]
    }) {codelet = "reduce_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return %y : memref<f32, #b>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func private @reads_first(%w: memref<4xf32, #a> {ipu.updated = 0 : i64}) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%w : memref<4xf32, #a>) outs(%w : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}
func.func @function_that_updates_gets_what_was_never_written() -> memref<4xf32, #a> {
  %x = memref.alloc() : memref<4xf32, #a>
  // expected-error @below {{'func.call' op reads a buffer that nothing has written before}}
  func.call @reads_first(%x) : (memref<4xf32, #a>) -> ()
  return %x : memref<4xf32, #a>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func private @identity(%x: memref<4xf32, #a>) -> memref<4xf32, #a> {
  return %x : memref<4xf32, #a>
}
func.func @function_gets_what_was_never_written() -> memref<4xf32, #a> {
  %x = memref.alloc() : memref<4xf32, #a>
  // expected-error @below {{'func.call' op reads a buffer that nothing has written before}}
  %y = func.call @identity(%x) : (memref<4xf32, #a>) -> memref<4xf32, #a>
  return %y : memref<4xf32, #a>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#b = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @exchange_of_what_was_never_written() -> memref<4xf32, #b> {
  %x = memref.alloc() : memref<4xf32, #a>
  %y = memref.alloc() : memref<4xf32, #b>
  // expected-error @below {{'ipu.exchange' op reads a buffer that nothing has written before}}
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  return %y : memref<4xf32, #b>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @result_that_was_never_written() -> memref<4xf32, #a> {
  %x = memref.alloc() : memref<4xf32, #a>
  // expected-error @below {{'func.return' op reads a buffer that nothing has written before}}
  return %x : memref<4xf32, #a>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#b = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @one_of_two_pieces_is_missing(%x: memref<4xf32, #a>) -> memref<4xf32, #b> {
  %y = memref.alloc() : memref<4xf32, #b>
  %from = memref.subview %x[0] [3] [1] : memref<4xf32, #a> to memref<3xf32, strided<[1]>, #a>
  %to = memref.subview %y[0] [3] [1] : memref<4xf32, #b> to memref<3xf32, strided<[1]>, #b>
  "ipu.exchange"(%from, %to) : (memref<3xf32, strided<[1]>, #a>, memref<3xf32, strided<[1]>, #b>) -> ()
  // expected-error @below {{'func.return' op reads a buffer that nothing has written before}}
  return %y : memref<4xf32, #b>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#b = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @exchange_comes_too_late(%x: memref<4xf32, #a>) -> memref<4xf32, #b> {
  %y = memref.alloc() : memref<4xf32, #b>
  %z = memref.alloc() : memref<4xf32, #b>
  "ipu.compute_set"() ({
    // expected-error @below {{reads a buffer that nothing has written before}}
    "ipu.vertices"() ({
      linalg.exp ins(%y : memref<4xf32, #b>) outs(%z : memref<4xf32, #b>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  return %z : memref<4xf32, #b>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#b = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @argument_is_written_by_an_exchange(%x: memref<4xf32, #a>, %y: memref<4xf32, #b>) {
  // expected-error @below {{'ipu.exchange' op writes argument 1, which stays as it is: memref<4xf32}}
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @argument_is_written_through_a_view(%x: memref<2x2xf32, #a>) {
  %y = memref.collapse_shape %x [[0, 1]] : memref<2x2xf32, #a> into memref<4xf32, #a>
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op writes argument 0, which stays as it is}}
    "ipu.vertices"() ({
      linalg.exp ins(%y : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#b = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
memref.global "private" constant @weights : memref<4xf32, #b> = dense<1.0>
func.func @constant_is_written(%x: memref<4xf32, #a>) {
  %w = memref.get_global @weights : memref<4xf32, #b>
  // expected-error @below {{'ipu.exchange' op writes a constant, which stays as it is}}
  "ipu.exchange"(%x, %w) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @argument_is_written_in_a_loop(%x: memref<4xf32, #a>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> memref<4xf32, #a> {
    "ipu.compute_set"() ({
      // expected-error @below {{'ipu.vertices' op writes argument 0, which stays as it is}}
      "ipu.vertices"() ({
        linalg.exp ins(%t : memref<4xf32, #a>) outs(%t : memref<4xf32, #a>)
      }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    scf.yield %t : memref<4xf32, #a>
  }
  return
}

// -----

// expected-error @below {{'func.func' op has #ipu.mapping<4, [[2, 4]], 0, 0> with the entry [2, 4]; each entry is [block, extent, stride, tile_step]}}
func.func @mapping_is_malformed(%x: memref<4xf32, #ipu.mapping<4, [[2, 4]], 0, 0>>) {
  return
}

// -----

// expected-error @below {{'func.func' op has 2 blocks; write branches as scf.if}}
func.func @several_blocks() {
  cf.br ^next
^next:
  return
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#b = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @argument_may_be_what_is_written(%x: memref<4xf32, #a>, %y: memref<4xf32, #b>, %p: i1) {
  %z = memref.alloc() : memref<4xf32, #b>
  %s = arith.select %p, %z, %y : memref<4xf32, #b>
  // expected-error @below {{'ipu.exchange' op writes argument 1, which stays as it is: memref<4xf32}}
  "ipu.exchange"(%x, %s) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func private @leaves_it(%w: memref<4xf32, #a> {ipu.updated = 0 : i64}) {
  return
}
func.func @function_writes_nothing() -> memref<4xf32, #a> {
  %x = memref.alloc() : memref<4xf32, #a>
  func.call @leaves_it(%x) : (memref<4xf32, #a>) -> ()
  // expected-error @below {{'func.return' op reads a buffer that nothing has written before}}
  return %x : memref<4xf32, #a>
}

// -----

func.func @family_does_nothing() {
  "ipu.compute_set"() ({
    // expected-error @below {{'ipu.vertices' op runs nothing; run ipu-merge-compute-sets, which drops it}}
    "ipu.vertices"() ({
    ^bb0:
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func private @reads_and_writes_nothing(%w: memref<4xf32, #a> {ipu.updated = 0 : i64}) {
  %y = memref.alloc() : memref<4xf32, #a>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%w : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}
func.func @read_is_no_write() -> memref<4xf32, #a> {
  %x = memref.alloc() : memref<4xf32, #a>
  // expected-error @below {{'func.call' op reads a buffer that nothing has written before}}
  func.call @reads_and_writes_nothing(%x) : (memref<4xf32, #a>) -> ()
  return %x : memref<4xf32, #a>
}

// -----

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @vertex_on_two_tiles(%n: index) -> memref<4xf32, #halves> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 1.0 : f32
  %x = memref.alloc() : memref<4xf32, #halves>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%x : memref<4xf32, #halves>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  // expected-error @below {{'scf.for' op is no loop of compute sets on tile 0, each of one vertex, which one vertex could run}}
  scf.for %i = %zero to %n step %one {
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%x : memref<4xf32, #halves>) outs(%x : memref<4xf32, #halves>)
      }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
    }) : () -> ()
  } {ipu.one_vertex = 0 : i64}
  return %x : memref<4xf32, #halves>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @loop_gets_what_was_never_written(%n: index) -> memref<4xf32, #a> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = memref.alloc() : memref<4xf32, #a>
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %x) -> memref<4xf32, #a> {
    "ipu.compute_set"() ({
      // expected-error @below {{'ipu.vertices' op reads a buffer that nothing has written before}}
      "ipu.vertices"() ({
        linalg.exp ins(%t : memref<4xf32, #a>) outs(%t : memref<4xf32, #a>)
      }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    scf.yield %t : memref<4xf32, #a>
  }
  return %r : memref<4xf32, #a>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @loop_gets_what_was_written_in_part(%n: index, %x: memref<4xf32, #a>) -> memref<4xf32, #a> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = memref.alloc() : memref<4xf32, #a>
  %from = memref.subview %x[0] [3] [1] : memref<4xf32, #a> to memref<3xf32, strided<[1]>, #a>
  %to = memref.subview %y[0] [3] [1] : memref<4xf32, #a> to memref<3xf32, strided<[1]>, #a>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%from : memref<3xf32, strided<[1]>, #a>) outs(%to : memref<3xf32, strided<[1]>, #a>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[3, 3, 0]], 0>} : () -> ()
  }) : () -> ()
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %y) -> memref<4xf32, #a> {
    "ipu.compute_set"() ({
      // expected-error @below {{'ipu.vertices' op reads a buffer that nothing has written before}}
      "ipu.vertices"() ({
        linalg.exp ins(%t : memref<4xf32, #a>) outs(%t : memref<4xf32, #a>)
      }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    scf.yield %t : memref<4xf32, #a>
  }
  return %r : memref<4xf32, #a>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @second_block_of_a_loop_gets_what_was_never_written(%go: i1) -> memref<4xf32, #a> {
  %x = memref.alloc() : memref<4xf32, #a>
  %r = scf.while (%s = %x) : (memref<4xf32, #a>) -> memref<4xf32, #a> {
    scf.condition(%go) %s : memref<4xf32, #a>
  } do {
  ^bb0(%t: memref<4xf32, #a>):
    "ipu.compute_set"() ({
      // expected-error @below {{'ipu.vertices' op reads a buffer that nothing has written before}}
      "ipu.vertices"() ({
        linalg.exp ins(%t : memref<4xf32, #a>) outs(%t : memref<4xf32, #a>)
      }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    scf.yield %t : memref<4xf32, #a>
  }
  return %r : memref<4xf32, #a>
}

// -----

#a = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func private @reads_in_a_loop(%w: memref<4xf32, #a> {ipu.updated = 0 : i64}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %one step %one iter_args(%t = %w) -> memref<4xf32, #a> {
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%t : memref<4xf32, #a>) outs(%t : memref<4xf32, #a>)
      }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    scf.yield %t : memref<4xf32, #a>
  }
  return
}
func.func @function_that_reads_in_a_loop_gets_what_was_never_written() {
  %x = memref.alloc() : memref<4xf32, #a>
  // expected-error @below {{'func.call' op reads a buffer that nothing has written before}}
  func.call @reads_in_a_loop(%x) : (memref<4xf32, #a>) -> ()
  return
}
