// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @shard_is_missing(%x: tensor<4xf32>) {
  // expected-error @below {{attribute "shard" is expected but not provided}}
  %y = "ipu.to_shard"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @move_changes_the_type(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.to_shard' op gives tensor<4xi32> for tensor<4xf32>; moving a value keeps its type}}
  %y = "ipu.to_shard"(%x) {shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @move_of_an_unknown_size(%x: tensor<?xf32>) {
  // expected-error @below {{'ipu.to_shard' op moves tensor<?xf32>; only a ranked tensor of static shape lies on tiles}}
  %y = "ipu.to_shard"(%x) {shard = 1 : i64} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @move_to_no_ipu(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.to_shard' op has shard -2; IPUs are counted from 0, and -1 stands for all of them}}
  %y = "ipu.to_shard"(%x) {shard = -2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
