// RUN: ipu-opt %s --ipu-merge-compute-sets --split-input-file | filecheck %s
// RUN: ipu-opt %s --ipu-merge-compute-sets --ipu-merge-compute-sets --split-input-file | filecheck %s

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @independent_families_share_a_compute_set
// CHECK-COUNT-1: "ipu.compute_set"
// CHECK: linalg.exp
// CHECK-NOT: "ipu.compute_set"
// CHECK: linalg.log
// CHECK-NOT: "ipu.compute_set"
// CHECK: return
func.func @independent_families_share_a_compute_set(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.log ins(%x : memref<4xf32, #a>) outs(%z : memref<4xf32, #a>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @reader_stays_behind_its_writer
// CHECK-COUNT-2: "ipu.compute_set"
func.func @reader_stays_behind_its_writer(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.log ins(%y : memref<4xf32, #a>) outs(%z : memref<4xf32, #a>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @writer_stays_behind_the_reader_of_what_it_overwrites
// CHECK-COUNT-2: "ipu.compute_set"
func.func @writer_stays_behind_the_reader_of_what_it_overwrites(
    %x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.log ins(%z : memref<4xf32, #a>) outs(%x : memref<4xf32, #a>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @second_writer_stays_behind_the_first
// CHECK-COUNT-2: "ipu.compute_set"
func.func @second_writer_stays_behind_the_first(%x: memref<4xf32, #a>, %c: f32) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%x : memref<4xf32, #a>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%x : memref<4xf32, #a>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#b = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @allocations_views_and_exchanges_move_up_with_their_user
// CHECK: memref.alloc
// CHECK: "ipu.exchange"
// CHECK: memref.subview
// CHECK: "ipu.compute_set"
// CHECK: linalg.exp
// CHECK: linalg.log
// CHECK-NOT: "ipu.compute_set"
// CHECK: return
func.func @allocations_views_and_exchanges_move_up_with_their_user(
    %x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %w: memref<4xf32, #b>, %z: memref<4xf32, #b>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  %moved = memref.alloc() : memref<4xf32, #b>
  "ipu.exchange"(%x, %moved) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  %part = memref.subview %moved[1] [2] [1] : memref<4xf32, #b> to memref<2xf32, strided<[1], offset: 1>, #b>
  %into = memref.subview %z[1] [2] [1] : memref<4xf32, #b> to memref<2xf32, strided<[1], offset: 1>, #b>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.log ins(%part : memref<2xf32, strided<[1], offset: 1>, #b>)
          outs(%into : memref<2xf32, strided<[1], offset: 1>, #b>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 2, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#b = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @exchange_of_a_result_keeps_its_user_behind
// CHECK: "ipu.compute_set"
// CHECK: "ipu.exchange"
// CHECK: "ipu.compute_set"
func.func @exchange_of_a_result_keeps_its_user_behind(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #b>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  %moved = memref.alloc() : memref<4xf32, #b>
  "ipu.exchange"(%y, %moved) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.log ins(%moved : memref<4xf32, #b>) outs(%z : memref<4xf32, #b>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#b = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// The second set overwrites what the exchange in between reads.
// CHECK-LABEL: func.func @writer_stays_behind_an_exchange_that_reads
// CHECK: "ipu.compute_set"
// CHECK: "ipu.exchange"
// CHECK: "ipu.compute_set"
func.func @writer_stays_behind_an_exchange_that_reads(
    %x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #b>, %c: f32) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%y : memref<4xf32, #a>) outs(%x : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.exchange"(%x, %z) : (memref<4xf32, #a>, memref<4xf32, #b>) -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%x : memref<4xf32, #a>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// The third set is independent of the first, but reads what the second writes.
// CHECK-LABEL: func.func @chain_of_three
// CHECK: "ipu.compute_set"
// CHECK: linalg.exp
// CHECK: linalg.log
// CHECK: "ipu.compute_set"
// CHECK: linalg.abs
func.func @chain_of_three(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #a>, %w: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.log ins(%x : memref<4xf32, #a>) outs(%z : memref<4xf32, #a>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.abs ins(%z : memref<4xf32, #a>) outs(%w : memref<4xf32, #a>)
    }) {codelet = "abs_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#id = affine_map<(i) -> (i)>

// An operand that no body reads has to be made before; nobody waits for what it holds.
// CHECK-LABEL: func.func @operand_for_its_shape
// CHECK: memref.alloc
// CHECK-COUNT-1: "ipu.compute_set"
// CHECK: linalg.exp
// CHECK: linalg.generic
// CHECK-NOT: "ipu.compute_set"
// CHECK: return
func.func @operand_for_its_shape(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #a>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  %shape = memref.alloc() : memref<4xi1, #a>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
          ins(%shape, %y, %x : memref<4xi1, #a>, memref<4xf32, #a>, memref<4xf32, #a>) outs(%z : memref<4xf32, #a>) {
      ^bb0(%s: i1, %unread: f32, %v: f32, %o: f32):
        linalg.yield %v : f32
      }
    }) {codelet = "copy_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// The second may read what the first writes, under another name.
// CHECK-LABEL: func.func @one_of_two_buffers
// CHECK-COUNT-2: "ipu.compute_set"
func.func @one_of_two_buffers(%x: memref<4xf32, #a>, %y: memref<4xf32, #a>, %z: memref<4xf32, #a>, %p: i1) {
  %s = arith.select %p, %x, %y : memref<4xf32, #a>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #a>) outs(%y : memref<4xf32, #a>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.log ins(%s : memref<4xf32, #a>) outs(%z : memref<4xf32, #a>)
    }) {codelet = "log_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#halves = #ipu.parts<[[2, 4, 1]], 0>

// What a loop of no iteration gives is what it began with.
// CHECK-LABEL: func.func @result_of_a_loop_may_be_what_it_began_with
// CHECK: scf.yield
// CHECK: "ipu.compute_set"
// CHECK: linalg.exp
// CHECK: "ipu.compute_set"
// CHECK: linalg.copy
func.func @result_of_a_loop_may_be_what_it_began_with(%n: index, %x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = memref.alloc() : memref<4xf32, #home>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> memref<4xf32, #home> {
    %b = memref.alloc() : memref<4xf32, #home>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%a : memref<4xf32, #home>) outs(%b : memref<4xf32, #home>)
      }) {codelet = "exp_f32", parts = #halves} : () -> ()
    }) : () -> ()
    scf.yield %b : memref<4xf32, #home>
  }
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%r : memref<4xf32, #home>) outs(%e : memref<4xf32, #home>)
    }) {codelet = "exp_f32", parts = #halves} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.copy ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #home>)
    }) {codelet = "copy_f32", parts = #halves} : () -> ()
  }) : () -> ()
  return
}

// -----

#home = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#whole = #ipu.parts<[[4, 4, 0]], 0>

// CHECK-LABEL: func.func @families_that_do_nothing_are_dropped
// CHECK-COUNT-1: "ipu.vertices"
// CHECK: linalg.exp
// CHECK-NOT: "ipu.compute_set"
// CHECK: return
func.func @families_that_do_nothing_are_dropped(%x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
    ^bb0:
    }) {codelet = "copy_f32", parts = #whole} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
    ^bb0:
    }) {codelet = "copy_f32", parts = #whole} : () -> ()
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #home>)
    }) {codelet = "exp_f32", parts = #whole} : () -> ()
  }) : () -> ()
  return
}
