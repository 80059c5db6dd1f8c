// RUN: ipu-opt %s --ipu-check-supersteps | filecheck %s

#halves = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 2>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#both = #ipu.mapping<4, [[1, 2, 0, 1], [4, 4, 1, 0]], 0, 2>
#point = #ipu.mapping<1, [], 0, 3>
#two = #ipu.mapping<2, [[2, 2, 1, 0]], 0, 1>

// CHECK: module
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
memref.global "private" constant @weights : memref<4xf32, #halves> = dense<[1.0, 2.0, 3.0, 4.0]>

// CHECK-LABEL: func.func @a_program_of_supersteps_passes
// CHECK-COUNT-2: "ipu.exchange"
// CHECK: "ipu.vertices"
func.func @a_program_of_supersteps_passes(%x: memref<4xf32, #one>) -> memref<4xf32, #halves> {
  %w = memref.get_global @weights : memref<4xf32, #halves>
  %a = memref.alloc() : memref<4xf32, #both>
  "ipu.exchange"(%x, %a) : (memref<4xf32, #one>, memref<4xf32, #both>) -> ()
  %b = memref.alloc() : memref<4xf32, #halves>
  "ipu.exchange"(%a, %b) : (memref<4xf32, #both>, memref<4xf32, #halves>) -> ()
  %c = memref.alloc() : memref<4xf32, #halves>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.add ins(%b, %w : memref<4xf32, #halves>, memref<4xf32, #halves>) outs(%c : memref<4xf32, #halves>)
    }) {codelet = "add_f32", parts = #ipu.parts<[[2, 4, 1]], 2>} : () -> ()
  }) : () -> ()
  return %c : memref<4xf32, #halves>
}

// CHECK-LABEL: func.func @argument_may_be_returned
func.func @argument_may_be_returned(%x: memref<f32, #point>) -> memref<f32, #point> {
  return %x : memref<f32, #point>
}

// CHECK-LABEL: func.func @buffer_may_be_written_piece_by_piece
func.func @buffer_may_be_written_piece_by_piece(%x: memref<4xf32, #one>) -> memref<4xf32, #halves> {
  %a = memref.alloc() : memref<4xf32, #halves>
  %x0 = memref.subview %x[0] [3] [1] : memref<4xf32, #one> to memref<3xf32, strided<[1]>, #one>
  %a0 = memref.subview %a[0] [3] [1] : memref<4xf32, #halves> to memref<3xf32, strided<[1]>, #halves>
  %x1 = memref.subview %x[3] [1] [1] : memref<4xf32, #one> to memref<1xf32, strided<[1], offset: 3>, #one>
  %a1 = memref.subview %a[3] [1] [1] : memref<4xf32, #halves> to memref<1xf32, strided<[1], offset: 3>, #halves>
  "ipu.exchange"(%x0, %a0) : (memref<3xf32, strided<[1]>, #one>, memref<3xf32, strided<[1]>, #halves>) -> ()
  "ipu.exchange"(%x1, %a1)
      : (memref<1xf32, strided<[1], offset: 3>, #one>, memref<1xf32, strided<[1], offset: 3>, #halves>) -> ()
  return %a : memref<4xf32, #halves>
}

// CHECK-LABEL: func.func @written_part_may_be_read_before_the_rest_is_written
func.func @written_part_may_be_read_before_the_rest_is_written(%x: memref<4xf32, #one>, %y: memref<2xf32, #two>)
    -> memref<2xf32, #two> {
  %a = memref.alloc() : memref<4xf32, #halves>
  %x0 = memref.subview %x[0] [2] [1] : memref<4xf32, #one> to memref<2xf32, strided<[1]>, #one>
  %a0 = memref.subview %a[0] [2] [1] : memref<4xf32, #halves> to memref<2xf32, strided<[1]>, #halves>
  "ipu.exchange"(%x0, %a0) : (memref<2xf32, strided<[1]>, #one>, memref<2xf32, strided<[1]>, #halves>) -> ()
  %b = memref.alloc() : memref<2xf32, #two>
  "ipu.exchange"(%a0, %b) : (memref<2xf32, strided<[1]>, #halves>, memref<2xf32, #two>) -> ()
  return %b : memref<2xf32, #two>
}

// CHECK-LABEL: func.func private @declaration
func.func private @declaration(memref<4xf32, #one>)
}

// CHECK-LABEL: func.func @function_that_writes_all_of_it_may_get_what_was_never_written
func.func @function_that_writes_all_of_it_may_get_what_was_never_written(%x: memref<4xf32, #one>) -> memref<4xf32, #one> {
  %w = memref.alloc() : memref<4xf32, #one>
  func.call @writes(%x, %w) : (memref<4xf32, #one>, memref<4xf32, #one>) -> ()
  return %w : memref<4xf32, #one>
}

func.func private @writes(%x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.updated = 0 : i64}) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #one>) outs(%w : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// CHECK-LABEL: func.func @function_that_writes_it_in_a_loop_may_get_what_was_never_written
func.func @function_that_writes_it_in_a_loop_may_get_what_was_never_written(%x: memref<4xf32, #one>)
    -> memref<4xf32, #one> {
  %w = memref.alloc() : memref<4xf32, #one>
  func.call @writes_in_a_loop(%x, %w) : (memref<4xf32, #one>, memref<4xf32, #one>) -> ()
  return %w : memref<4xf32, #one>
}

func.func private @writes_in_a_loop(%x: memref<4xf32, #one>, %w: memref<4xf32, #one> {ipu.updated = 0 : i64}) {
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
  return
}

// CHECK-LABEL: func.func @function_that_does_not_read_it_may_get_what_was_never_written
func.func @function_that_does_not_read_it_may_get_what_was_never_written() {
  %x = memref.alloc() : memref<4xf32, #one>
  func.call @uses_nothing(%x) : (memref<4xf32, #one>) -> ()
  return
}

func.func private @uses_nothing(%x: memref<4xf32, #one>) {
  return
}

// CHECK-LABEL: func.func @function_that_only_reads_what_it_may_update_may_get_an_argument
func.func @function_that_only_reads_what_it_may_update_may_get_an_argument(%x: memref<4xf32, #one>) {
  func.call @reads_what_it_may_update(%x) : (memref<4xf32, #one>) -> ()
  return
}

func.func private @reads_what_it_may_update(%w: memref<4xf32, #one> {ipu.updated = 0 : i64}) {
  %y = memref.alloc() : memref<4xf32, #one>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%w : memref<4xf32, #one>) outs(%y : memref<4xf32, #one>)
    }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// CHECK-LABEL: func.func @loop_that_writes_first_may_get_what_was_never_written
func.func @loop_that_writes_first_may_get_what_was_never_written(%n: index, %x: memref<4xf32, #one>)
    -> memref<4xf32, #one> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = memref.alloc() : memref<4xf32, #one>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %w) -> memref<4xf32, #one> {
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.copy ins(%x : memref<4xf32, #one>) outs(%a : memref<4xf32, #one>)
      }) {codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%a : memref<4xf32, #one>) outs(%a : memref<4xf32, #one>)
      }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
    }) : () -> ()
    scf.yield %a : memref<4xf32, #one>
  }
  return %r : memref<4xf32, #one>
}
