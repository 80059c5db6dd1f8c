// RUN: ipu-opt %s --split-input-file --ipu-partition --verify-diagnostics

module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 4}>} {
  func.func @hint_on_another_ipu(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error @below {{'linalg.exp' op has parts on tiles 0 to 3, but shard 1 has tiles 4 to 7; change the hint or the shard}}
    %a = linalg.exp {ipu.shard = 1 : i64, ipu.parts = #ipu.parts<[[2, 8, 1]], 0>} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %a : tensor<8xf32>
  }
}
