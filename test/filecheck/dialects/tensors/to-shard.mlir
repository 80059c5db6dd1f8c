// RUN: ipu-opt %s | ipu-opt | filecheck %s
// RUN: ipu-opt %s --canonicalize --cse | filecheck %s --check-prefix=CSE

// CHECK-LABEL: func.func @value_on_another_ipu
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[Y:.*]] = "ipu.to_shard"(%[[X]]) {shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[Y]]
func.func @value_on_another_ipu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.to_shard"(%x) {shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CSE-LABEL: func.func @equal_moves_are_one_and_unused_ones_go
// CSE: "ipu.to_shard"({{.*}}) {shard = 1
// CSE-NOT: "ipu.to_shard"
func.func @equal_moves_are_one_and_unused_ones_go(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = "ipu.to_shard"(%x) {shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %z = "ipu.to_shard"(%x) {shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %unused = "ipu.to_shard"(%x) {shard = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
