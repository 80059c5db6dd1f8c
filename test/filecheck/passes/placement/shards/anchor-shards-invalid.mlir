// RUN: ipu-opt %s --split-input-file --ipu-anchor-shards --verify-diagnostics

module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 4}>} {
  // expected-error @below {{'func.func' op has argument 0 on shard 3, but the target has 2 IPUs, shards 0 to 1; compile for more IPUs, or use a smaller shard}}
  func.func @shard_beyond_the_target(%x: tensor<8xf32> {ipu.shard = 3 : i64}) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error @below {{'linalg.exp' op is on shard 2, but the target has 2 IPUs, shards 0 to 1; compile for more IPUs, or use a smaller shard}}
    %a = linalg.exp {ipu.shard = 2 : i64} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{'ipu.to_shard' op is on shard 9, but the target has 2 IPUs}}
    %b = "ipu.to_shard"(%a) {shard = 9 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    return %b : tensor<8xf32>
  }
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
  func.func @shard_on_one_ipu(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    // expected-error @below {{'linalg.exp' op is on shard 1, but the target has 1 IPU, shard 0; compile for more IPUs, or use a smaller shard}}
    %a = linalg.exp {ipu.shard = 1 : i64} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{'linalg.tanh' op is on shard -2}}
    %b = linalg.tanh {ipu.shard = -2 : i64} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{'linalg.abs' op has ipu.shard = "zero"; write it as 1 : i64}}
    %c = linalg.abs {ipu.shard = "zero"} ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %c : tensor<8xf32>
  }
}
