// RUN: ipu-opt %s --ipu-partition | filecheck %s --check-prefix=WORDS
// RUN: ipu-opt %s --ipu-partition=grain=16 | filecheck %s --check-prefix=COARSE
// RUN: ipu-opt %s --ipu-partition=grain=4 | filecheck %s --check-prefix=FINE

// WORDS: #ipu.parts<{{\[}}[2, 6, 1]], 0>
// COARSE: #ipu.parts<{{\[}}[4, 6, 1]], 0>
// FINE: #ipu.parts<{{\[}}[1, 6, 1]], 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 6}>} {
func.func @grain_is_the_bytes_that_stay_together(%x: tensor<6xf32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.exp ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
}
