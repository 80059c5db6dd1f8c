// RUN: ipu-opt %s --ipu-check-memory --split-input-file --verify-diagnostics

#home = #ipu.mapping<64, [[64, 64, 1, 0]], 0, 0>
#next = #ipu.mapping<64, [[64, 64, 1, 0]], 0, 1>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, bytes_per_tile = 500}>} {
  func.func @one_tile(%x: memref<64xf32, #home>) -> memref<64xf32, #home> {
    %a = memref.alloc() : memref<64xf32, #next>
    "ipu.exchange"(%x, %a) : (memref<64xf32, #home>, memref<64xf32, #next>) -> ()
    %b = memref.alloc() : memref<64xf32, #home>
    // expected-error @below {{'ipu.exchange' op needs 636 B on tile 0, which has 500 B: 136 B too much in superstep 1 (exchange at}}
    "ipu.exchange"(%a, %b) : (memref<64xf32, #next>, memref<64xf32, #home>) -> ()
    return %b : memref<64xf32, #home>
  }
}

// -----

#home = #ipu.mapping<64, [[64, 64, 1, 0]], 0, 0>
#next = #ipu.mapping<64, [[64, 64, 1, 0]], 0, 1>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, bytes_per_tile = 310}>} {
  func.func @more_tiles(%x: memref<64xf32, #home>) -> memref<64xf32, #next> {
    %a = memref.alloc() : memref<64xf32, #next>
    // expected-error @below {{2 of 2 tiles are too small; largest there: %arg0 exchanged at}}
    "ipu.exchange"(%x, %a) : (memref<64xf32, #home>, memref<64xf32, #next>) -> ()
    return %a : memref<64xf32, #next>
  }
}

// -----

#home = #ipu.mapping<64, [[64, 64, 1, 0]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 2, bytes_per_tile = 200}>} {
  // expected-error @below {{'func.func' op needs 256 B on tile 0, which has 200 B: 56 B too much all the time; all other tiles fit; largest there: %arg0}}
  func.func @always(%x: memref<64xf32, #home>) {
    return
  }
}

// -----

#home = #ipu.mapping<64, [[1, 64, 1, 1]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 64, bytes_per_tile = 100}>} {
  // expected-error @below {{code alone is too much: vertex code 224 B, vertex state 20 B, exchange code 0 B, control code 32 B}}
  func.func @code(%x: memref<64xf32, #home>) -> memref<64xf32, #home> {
    %a = memref.alloc() : memref<64xf32, #home>
    "ipu.compute_set"() ({
      "ipu.vertices"() ({
        linalg.copy ins(%x : memref<64xf32, #home>) outs(%a : memref<64xf32, #home>)
      }) {codelet = "copy_f32", parts = #ipu.parts<[[1, 64, 1]], 0>} : () -> ()
    }) : () -> ()
    return %a : memref<64xf32, #home>
  }
}
