// RUN: ipu-opt %s --split-input-file --ipu-spread-shards | filecheck %s

// CHECK-LABEL: func.func @ops_of_a_loop_have_its_shard
// CHECK: tensor.empty()
// CHECK-NOT: ipu.shard
// CHECK: scf.for
// CHECK: linalg.exp {ipu.shard = 1 : i64}
// CHECK: scf.if
// CHECK-NEXT: linalg.exp {ipu.shard = 0 : i64}
// CHECK-NEXT: linalg.tanh {ipu.shard = 2 : i64}
// CHECK: } else {
// CHECK: } {ipu.shard = 0 : i64}
// CHECK: scf.yield %{{.*}} : tensor<4xf32>
// CHECK-NEXT: } {ipu.shard = 1 : i64}
func.func @ops_of_a_loop_have_its_shard(%x: tensor<4xf32>, %n: index, %p: i1) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %c = scf.if %p -> tensor<4xf32> {
      %d = linalg.exp ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %f = linalg.tanh {ipu.shard = 2 : i64} ins(%d : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %f : tensor<4xf32>
    } else {
      scf.yield %b : tensor<4xf32>
    } {ipu.shard = 0 : i64}
    scf.yield %c : tensor<4xf32>
  } {ipu.shard = 1 : i64}
  return %r : tensor<4xf32>
}

// -----

// The function of calls on one shard belongs to it, with what it calls; of calls on several, each has its own.
// CHECK-LABEL: func.func private @inner(
// CHECK: linalg.exp {ipu.shard = 1 : i64}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func private @outer(
// CHECK: call @inner(%{{.*}}) {ipu.outlined, ipu.shard = 1 : i64}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @inner(%x) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func private @both_on_shard_0(
// CHECK: linalg.exp {ipu.shard = 0 : i64}
// CHECK-LABEL: func.func private @both_on_shard_1(
// CHECK: linalg.exp {ipu.shard = 1 : i64}
// CHECK-LABEL: func.func private @both(
// CHECK-NOT: ipu.shard
func.func private @both(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-LABEL: func.func @calls
// CHECK: call @outer(%{{.*}}) {ipu.outlined, ipu.shard = 1 : i64}
// CHECK: call @both_on_shard_0(%{{.*}}) {ipu.outlined, ipu.shard = 0 : i64}
// CHECK: call @both_on_shard_1(%{{.*}}) {ipu.shard = 1 : i64}
// CHECK: call @both(%{{.*}}) {ipu.outlined}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @outer(%x) {ipu.outlined, ipu.shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @both(%a) {ipu.outlined, ipu.shard = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @both(%b) {ipu.shard = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @both(%c) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_shards
// CHECK-NOT: ipu.shard
func.func @no_shards(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
