// RUN: ipu-opt %s --ipu-read-scopes | filecheck %s

// The innermost scope holds, for gradients too; TensorFlow makes names of equal scopes differ by a number.
// CHECK-LABEL: func.func @scopes
// CHECK: linalg.exp {ipu.shard = 1 : i64}
// CHECK: linalg.log {ipu.shard = 12 : i64}
// CHECK: linalg.tanh {ipu.shard = -1 : i64}
// CHECK: scf.if
// CHECK: linalg.floor {ipu.shard = 3 : i64}
// CHECK: } {ipu.shard = 2 : i64}
func.func @scopes(%x: tensor<4xf32>, %e: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/ipu.shard.1/exp")
  %1 = linalg.log ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc(fused["gradient_tape/ipu.shard.2/ipu.shard.12_1/Log", "model.py":3:1])
  %2 = linalg.tanh ins(%1 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("ipu.shard.-1/Tanh"("model.py":4:1))
  %3 = scf.if %c -> tensor<4xf32> {
    %4 = linalg.floor ins(%2 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("ipu.shard.2/cond/ipu.shard.3/Floor")
    scf.yield %4 : tensor<4xf32>
  } else {
    scf.yield %2 : tensor<4xf32>
  } loc("ipu.shard.2/cond")
  return %3 : tensor<4xf32>
} loc("ipu.shard.4")

// CHECK-LABEL: func.func @other_names
// CHECK-NOT: ipu.shard =
func.func @other_names(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("my_ipu.shard.1/exp")
  %1 = linalg.log ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc("ipu.shard.1x/log")
  return %1 : tensor<4xf32>
}
