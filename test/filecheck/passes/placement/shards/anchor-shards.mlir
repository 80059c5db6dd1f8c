// RUN: ipu-opt %s --split-input-file --ipu-anchor-shards | filecheck %s
// RUN: ipu-opt %s --split-input-file --ipu-set-target='ipus=2 tiles=4' --ipu-normalize | filecheck %s --check-prefix=FUSED

module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 4}>} {
  // CHECK-LABEL: func.func @ops_of_two_shards
  // CHECK: %[[E:.*]] = linalg.exp ins(
  // CHECK: %[[LEAVES:.*]] = "ipu.to_shard"(%[[E]]) {shard = 0 : i64}
  // CHECK: %[[COMES:.*]] = "ipu.to_shard"(%[[LEAVES]]) {shard = 1 : i64}
  // CHECK: %[[T:.*]] = linalg.tanh ins(%[[COMES]]
  // CHECK: %[[OUT:.*]] = "ipu.to_shard"(%[[T]]) {shard = 1 : i64}
  // CHECK: return %[[OUT]]
  // CHECK-NOT: ipu.shard =
  // FUSED-LABEL: func.func @ops_of_two_shards
  // FUSED: math.exp
  // FUSED-NOT: math.tanh
  // FUSED: linalg.generic
  // FUSED: math.tanh
  func.func @ops_of_two_shards(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp {ipu.shard = 0 : i64} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %b = linalg.tanh {ipu.shard = 1 : i64} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %b : tensor<8xf32>
  }

  // An op without a shard goes where its operand is, and fuses with its op.
  // CHECK-LABEL: func.func @op_without_a_shard_follows
  // CHECK: %[[E:.*]] = linalg.exp
  // CHECK-NEXT: %[[T:.*]] = linalg.tanh ins(%[[E]]
  // CHECK-NEXT: "ipu.to_shard"(%[[T]]) {shard = 1 : i64}
  // FUSED-LABEL: func.func @op_without_a_shard_follows
  // FUSED: math.exp
  // FUSED-NEXT: math.tanh
  func.func @op_without_a_shard_follows(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp {ipu.shard = 1 : i64} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %b = linalg.tanh ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %b : tensor<8xf32>
  }

  // Only what a slice shows moves.
  // CHECK-LABEL: func.func @slice_stays
  // CHECK: %[[E:.*]] = linalg.exp
  // CHECK: %[[S:.*]] = tensor.extract_slice %[[E]][0] [2] [1]
  // CHECK: %[[FROM:.*]] = "ipu.to_shard"(%[[S]]) {shard = 0 : i64} : (tensor<2xf32>)
  // CHECK: "ipu.to_shard"(%[[FROM]]) {shard = 1 : i64} : (tensor<2xf32>)
  func.func @slice_stays(%x: tensor<8xf32>) -> tensor<2xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp {ipu.shard = 0 : i64} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s = tensor.extract_slice %a[0] [2] [1] {ipu.shard = 1 : i64} : tensor<8xf32> to tensor<2xf32>
    %small = tensor.empty() : tensor<2xf32>
    %b = linalg.tanh {ipu.shard = 1 : i64} ins(%s : tensor<2xf32>) outs(%small : tensor<2xf32>) -> tensor<2xf32>
    return %b : tensor<2xf32>
  }

  // What goes to the host says where it was, also if nothing moves.
  // CHECK-LABEL: func.func @one_shard
  // CHECK: %[[E:.*]] = linalg.exp
  // CHECK: %[[THERE:.*]] = "ipu.to_shard"(%[[E]]) {shard = 1 : i64}
  // CHECK: "ipu.print"(%[[THERE]])
  func.func @one_shard(%x: tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp {ipu.shard = 1 : i64} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    "ipu.print"(%a) {label = "a", ipu.shard = 1 : i64} : (tensor<8xf32>) -> ()
    return
  }

  // What a loop carries may come to lie elsewhere than its readers: each of them says where it runs.
  // CHECK-LABEL: func.func @what_a_loop_carries_is_read_by_its_reader_there
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
  // CHECK-DAG: %[[A1:.*]] = "ipu.to_shard"(%[[A]]) {shard = 1 : i64}
  // CHECK-DAG: %[[B0:.*]] = "ipu.to_shard"(%[[B]]) {shard = 0 : i64}
  // CHECK: linalg.exp ins(%[[A1]]
  // CHECK: linalg.tanh ins(%{{.*}} : tensor<8xf32>)
  // CHECK: scf.yield
  func.func @what_a_loop_carries_is_read_by_its_reader_there(%x: tensor<8xf32>, %n: index)
      -> (tensor<8xf32>, tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<8xf32>, tensor<8xf32>) {
      %y = linalg.exp {ipu.shard = 1 : i64} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %z = linalg.tanh {ipu.shard = 0 : i64} ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %y, %z : tensor<8xf32>, tensor<8xf32>
    }
    return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
  }

  // Where all belongs to one shard, only what comes in and goes out says so.
  // CHECK-LABEL: func.func @loop_on_one_shard
  // CHECK: %[[X:.*]] = "ipu.to_shard"(%{{.*}}) {shard = 1 : i64}
  // CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]])
  // CHECK-NEXT: %[[Y:.*]] = linalg.exp ins(%[[A]]
  // CHECK-NEXT: scf.yield %[[Y]]
  // CHECK: "ipu.to_shard"(%[[R]]) {shard = 1 : i64}
  func.func @loop_on_one_shard(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
      %y = linalg.exp {ipu.shard = 1 : i64} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %y : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }

  // CHECK-LABEL: func.func @no_shards
  // CHECK-NOT: ipu.to_shard
  func.func @no_shards(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %a : tensor<8xf32>
  }
}

// -----

module attributes {ipu.target = #ipu.target<{ipus = 1, tiles_per_ipu = 4}>} {
  // CHECK-LABEL: func.func @one_ipu_has_one_shard
  // CHECK-NOT: shard
  // CHECK: return
  func.func @one_ipu_has_one_shard(%x: tensor<8xf32> {ipu.shard = 0 : i64}) -> tensor<8xf32> {
    %y = "ipu.to_shard"(%x) {shard = -1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp {ipu.shard = 0 : i64} ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %a : tensor<8xf32>
  }
}

// -----

module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 4}>} {
  // CHECK-LABEL: func.func @value_of_unknown_size
  // CHECK-NOT: "ipu.to_shard"({{.*}}?
  // CHECK: return
  func.func @value_of_unknown_size(%x: tensor<8xf32>, %n: index) -> tensor<?xf32> {
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
    %a = linalg.exp {ipu.shard = 0 : i64} ins(%y : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %b = linalg.tanh {ipu.shard = 1 : i64} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %b : tensor<?xf32>
  }
}
