// RUN: ipu-opt %s --ipu-set-target=io-tiles=6 --ipu-partition | filecheck %s
// RUN: ipu-opt %s --ipu-set-target=io-tiles=6 --ipu-partition=plan=balanced | filecheck %s
// RUN: not ipu-opt %s --ipu-set-target=io-tiles=8 2>&1 | filecheck %s --check-prefix=ALL
// RUN: ipu-opt %s --ipu-set-target='ipus=2 io-tiles=4' | filecheck %s --check-prefix=TWO

// Of eight tiles, the last six are for data on the way in and out; the rest of the target stays as it was.
// CHECK-DAG: io_tiles = 6
// CHECK-DAG: tiles_per_ipu = 8
// CHECK: #ipu.mapping<64, {{\[}}[32, 64, 1, 1]], 0, 0>
// ALL: a target needs io_tiles between 0 and 7, so that one of its 8 tiles is left for the program; got 8
// TWO: io_tiles = 4, ipus = 2
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 8}>} {
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
}
