// RUN: ipu-opt %s --split-input-file --ipu-gather-messages | filecheck %s
// RUN: ipu-opt %s --split-input-file --ipu-gather-messages --ipu-check-memory --verify-diagnostics

// Rows become columns: each tile sends 63 pieces of 8 elements and receives as many, for which it has 780 B of code; if it
// gathers them into messages, 228 B. It holds most when it fills %z, while no message lives.
#rows = #ipu.mapping<32768, [[512, 32768, 1, 1]], 0, 0>
#columns = #ipu.mapping<32768, [[64, 64, 512, 0], [8, 512, 1, 1]], 0, 0>
#large = #ipu.mapping<131072, [[2048, 131072, 1, 1]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 64, bytes_per_tile = 11100}>} {
  // CHECK-LABEL: func.func @does_not_fit
  // CHECK: "ipu.exchange"({{.*}}) {ipu.gathers}
  func.func @does_not_fit(%x: memref<64x512xf32, #rows>) -> memref<64x2048xf32, #large> {
    %zero = arith.constant 0.0 : f32
    %y = memref.alloc() : memref<64x512xf32, #columns>
    "ipu.exchange"(%x, %y) : (memref<64x512xf32, #rows>, memref<64x512xf32, #columns>) -> ()
    %z = memref.alloc() : memref<64x2048xf32, #large>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.fill ins(%zero : f32) outs(%z : memref<64x2048xf32, #large>)
      }) {codelet = "fill_f32", parts = #ipu.parts<[[1, 64, 1], [2048, 2048, 0]], 0>} : () -> ()
    }) : () -> ()
    return %z : memref<64x2048xf32, #large>
  }
}

// -----

#rows = #ipu.mapping<32768, [[512, 32768, 1, 1]], 0, 0>
#columns = #ipu.mapping<32768, [[64, 64, 512, 0], [8, 512, 1, 1]], 0, 0>
#large = #ipu.mapping<131072, [[2048, 131072, 1, 1]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 64, bytes_per_tile = 12000}>} {
  // CHECK-LABEL: func.func @fits
  // CHECK: "ipu.exchange"({{.*}}) : (
  func.func @fits(%x: memref<64x512xf32, #rows>) -> memref<64x2048xf32, #large> {
    %zero = arith.constant 0.0 : f32
    %y = memref.alloc() : memref<64x512xf32, #columns>
    "ipu.exchange"(%x, %y) : (memref<64x512xf32, #rows>, memref<64x512xf32, #columns>) -> ()
    %z = memref.alloc() : memref<64x2048xf32, #large>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.fill ins(%zero : f32) outs(%z : memref<64x2048xf32, #large>)
      }) {codelet = "fill_f32", parts = #ipu.parts<[[1, 64, 1], [2048, 2048, 0]], 0>} : () -> ()
    }) : () -> ()
    return %z : memref<64x2048xf32, #large>
  }
}

// -----

// The messages take 4,032 B while the exchange runs, when the tile holds most.
#rows = #ipu.mapping<32768, [[512, 32768, 1, 1]], 0, 0>
#columns = #ipu.mapping<32768, [[64, 64, 512, 0], [8, 512, 1, 1]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 64, bytes_per_tile = 4800}>} {
  // CHECK-LABEL: func.func @messages_do_not_fit
  // CHECK: "ipu.exchange"({{.*}}) : (
  func.func @messages_do_not_fit(%x: memref<64x512xf32, #rows>) -> memref<64x512xf32, #columns> {
    %y = memref.alloc() : memref<64x512xf32, #columns>
    // expected-error @below {{needs 4,908 B on tile 0}}
    "ipu.exchange"(%x, %y) : (memref<64x512xf32, #rows>, memref<64x512xf32, #columns>) -> ()
    return %y : memref<64x512xf32, #columns>
  }
}
