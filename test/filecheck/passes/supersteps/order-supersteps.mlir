// RUN: ipu-opt %s --ipu-order-supersteps --split-input-file | filecheck %s

#a = #ipu.mapping<1024, [[1024, 1024, 1, 0]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>

// As it is written, four tensors of 4 KB live at one time: the argument, and three that are made before one is summed.
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 1, bytes_per_tile = 18000}>} {
  // CHECK-LABEL: func.func @each_is_summed_before_the_next_begins
  // CHECK-SAME: ipu.peak_as_written = {{1[0-9]+}} : i64
  // CHECK: memref.alloc
  // CHECK: linalg.exp
  // CHECK-NOT: memref.alloc
  // CHECK: linalg.dot
  // CHECK: memref.alloc
  // CHECK: linalg.log
  // CHECK: linalg.dot
  // CHECK: memref.alloc
  // CHECK: linalg.tanh
  // CHECK: linalg.dot
  func.func @each_is_summed_before_the_next_begins(
      %x: memref<1024xf32, #a>, %s: memref<f32, #one>, %t: memref<f32, #one>, %u: memref<f32, #one>) {
    %e = memref.alloc() : memref<1024xf32, #a>
    %l = memref.alloc() : memref<1024xf32, #a>
    %h = memref.alloc() : memref<1024xf32, #a>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%x : memref<1024xf32, #a>) outs(%e : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.log ins(%x : memref<1024xf32, #a>) outs(%l : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.tanh ins(%x : memref<1024xf32, #a>) outs(%h : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%e, %e : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%s : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%l, %l : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%t : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%h, %h : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%u : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    return
  }
}

// -----

#a = #ipu.mapping<1024, [[1024, 1024, 1, 0]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>

// The same on a tile with twice the memory.
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 1, bytes_per_tile = 36000}>} {
  // CHECK-LABEL: func.func @stays_as_it_is_where_memory_is_not_short
  // CHECK-NOT: ipu.peak_as_written
  // CHECK-COUNT-3: memref.alloc
  // CHECK: linalg.tanh
  // CHECK: linalg.dot
  func.func @stays_as_it_is_where_memory_is_not_short(
      %x: memref<1024xf32, #a>, %s: memref<f32, #one>, %t: memref<f32, #one>, %u: memref<f32, #one>) {
    %e = memref.alloc() : memref<1024xf32, #a>
    %l = memref.alloc() : memref<1024xf32, #a>
    %h = memref.alloc() : memref<1024xf32, #a>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%x : memref<1024xf32, #a>) outs(%e : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.log ins(%x : memref<1024xf32, #a>) outs(%l : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.tanh ins(%x : memref<1024xf32, #a>) outs(%h : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%e, %e : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%s : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%l, %l : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%t : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%h, %h : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%u : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    return
  }
}

// -----

#a = #ipu.mapping<1024, [[1024, 1024, 1, 0]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 1, bytes_per_tile = 18000}>} {
  // CHECK-LABEL: func.func @nothing_passes_an_assertion
  // CHECK-NOT: ipu.peak_as_written
  // CHECK: linalg.tanh
  // CHECK: cf.assert
  // CHECK: linalg.dot
  func.func @nothing_passes_an_assertion(
      %x: memref<1024xf32, #a>, %s: memref<f32, #one>, %t: memref<f32, #one>, %u: memref<f32, #one>, %ok: i1) {
    %e = memref.alloc() : memref<1024xf32, #a>
    %l = memref.alloc() : memref<1024xf32, #a>
    %h = memref.alloc() : memref<1024xf32, #a>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%x : memref<1024xf32, #a>) outs(%e : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.log ins(%x : memref<1024xf32, #a>) outs(%l : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.tanh ins(%x : memref<1024xf32, #a>) outs(%h : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    cf.assert %ok, "ok"
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%e, %e : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%s : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%l, %l : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%t : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%h, %h : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%u : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    return
  }
}

// -----

#a = #ipu.mapping<1024, [[1024, 1024, 1, 0]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>

// The logarithms are written over the argument, of which the others are made.
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 1, bytes_per_tile = 14000}>} {
  // CHECK-LABEL: func.func @who_overwrites_stays_behind_who_reads
  // CHECK-SAME: ipu.peak_as_written
  // CHECK: linalg.tanh
  // CHECK: linalg.dot
  // CHECK: linalg.sqrt
  // CHECK: linalg.dot
  // CHECK: linalg.log
  func.func @who_overwrites_stays_behind_who_reads(
      %x: memref<1024xf32, #a>, %s: memref<f32, #one>, %t: memref<f32, #one>, %u: memref<f32, #one>) {
    %e = memref.alloc() : memref<1024xf32, #a>
    %l = memref.alloc() : memref<1024xf32, #a>
    %h = memref.alloc() : memref<1024xf32, #a>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%x : memref<1024xf32, #a>) outs(%e : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.tanh ins(%x : memref<1024xf32, #a>) outs(%h : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.sqrt ins(%x : memref<1024xf32, #a>) outs(%l : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.log ins(%x : memref<1024xf32, #a>) outs(%x : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%x, %x : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%s : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%e, %e : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%s : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%h, %h : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%t : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%l, %l : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%u : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    return
  }
}

// -----

#a = #ipu.mapping<1024, [[1024, 1024, 1, 0]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 1, bytes_per_tile = 18000}>} {
  // CHECK-LABEL: func.func @blocks_have_orders_of_their_own
  // CHECK: scf.for
  // CHECK: linalg.exp
  // CHECK: linalg.dot
  // CHECK: linalg.log
  // CHECK: linalg.dot
  // CHECK: linalg.tanh
  func.func @blocks_have_orders_of_their_own(
      %x: memref<1024xf32, #a>, %s: memref<f32, #one>, %t: memref<f32, #one>, %u: memref<f32, #one>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
    %e = memref.alloc() : memref<1024xf32, #a>
    %l = memref.alloc() : memref<1024xf32, #a>
    %h = memref.alloc() : memref<1024xf32, #a>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.exp ins(%x : memref<1024xf32, #a>) outs(%e : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.log ins(%x : memref<1024xf32, #a>) outs(%l : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.tanh ins(%x : memref<1024xf32, #a>) outs(%h : memref<1024xf32, #a>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%e, %e : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%s : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%l, %l : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%t : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.dot ins(%h, %h : memref<1024xf32, #a>, memref<1024xf32, #a>) outs(%u : memref<f32, #one>)
      }) {codelet = "work", parts = #ipu.parts<[[1024, 1024, 0]], 0>} : () -> ()
    }) : () -> ()
    }
    return
  }
}
