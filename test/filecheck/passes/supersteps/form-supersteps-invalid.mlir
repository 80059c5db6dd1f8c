// RUN: ipu-opt %s --ipu-form-supersteps --split-input-file --verify-diagnostics

#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @op_without_parts(%x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  // expected-error @below {{'linalg.exp' op has no ipu.parts; run ipu-partition before bufferization}}
  linalg.exp ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #home>)
  return
}

// -----

// The exchange that the casts stood for is lost: the vertices would read a remote tile.
#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @operand_in_the_wrong_place(%x: memref<4xf32, #one>, %y: memref<4xf32, #home>) {
  // expected-error @below {{'ipu.vertices' op reads element 2 of operand 0 on tile 1, where it does not lie}}
  linalg.exp {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x : memref<4xf32, #one>) outs(%y : memref<4xf32, #home>)
  return
}
