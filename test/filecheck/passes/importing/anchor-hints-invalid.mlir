// RUN: ipu-opt %s --ipu-anchor-hints --split-input-file --verify-diagnostics

func.func @loops_are_not_known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'linalg.softmax' op has ipu.parts, but loops whose extents are not known}}
  %y = linalg.softmax {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>} dimension(0)
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @wrong_number_of_loops(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'linalg.exp' op has parts of 0 loops, but the op has 1}}
  %y = linalg.exp {ipu.parts = #ipu.parts<[], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @every_wrong_hint_is_reported(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{has parts for 3 iterations of loop d0, which has 4}}
  %y = linalg.exp {ipu.parts = #ipu.parts<[[3, 3, 0]], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{puts two of its parts on one tile}}
  %z = linalg.exp {ipu.parts = #ipu.parts<[[1, 4, 0]], 0>}
      ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

func.func @reduction_is_cut(%x: tensor<4x3xf32>, %y: tensor<3x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  // expected-error @below {{cuts the reduction loop d2 into blocks of 1; one vertex must run all 3}}
  %z = linalg.matmul {ipu.parts = #ipu.parts<[[4, 4, 0], [4, 4, 0], [1, 3, 1]], 0>}
      ins(%x, %y : tensor<4x3xf32>, tensor<3x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// -----

func.func @parts_of_an_op_without_loops(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{'tensor.extract_slice' op has ipu.parts, but no loops to cut; they belong on a linalg op}}
  %y = tensor.extract_slice %x[0] [2] [1] {ipu.parts = #ipu.parts<[[2, 2, 0]], 0>} : tensor<4xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @mapping_of_an_op_that_computes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'math.exp' op has ipu.map, which is for arguments, constants and empty tensors; place another value with ipu.place}}
  %y = math.exp %x {ipu.map = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 1>
// expected-error @below {{'func.func' op has argument 0 with one mapping as ipu.map and another in its type; remove one}}
func.func @two_mappings(%x: tensor<4xf32, #one> {ipu.map = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>}) {
  return
}

// -----

func.func @parts_with_a_short_entry(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.exp' op has #ipu.parts<[[2, 4]], 0> with the entry [2, 4]}}
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4]], 0>}
      ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
