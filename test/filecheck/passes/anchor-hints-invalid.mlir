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
