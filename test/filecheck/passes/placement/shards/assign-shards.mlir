// RUN: ipu-opt %s --ipu-assign-shards | filecheck %s
// RUN: ipu-opt %s --ipu-assign-shards --ipu-assign-shards | filecheck %s

module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 4}>} {
  // CHECK-LABEL: func.func @arguments_go_where_they_are_used_first
  // CHECK-SAME: %[[X:.*]]: tensor<8xf32> {ipu.shard = 0 : i64}, %[[Y:.*]]: tensor<8xf32> {ipu.shard = 1 : i64}
  // CHECK: %[[A:.*]] = linalg.exp {ipu.shard = 0 : i64} ins(%[[X]]
  // CHECK: %[[MOVED:.*]] = "ipu.to_shard"(%[[A]]) {shard = 1 : i64}
  // CHECK: linalg.add {ipu.shard = 1 : i64} ins(%[[MOVED]], %[[Y]]
  func.func @arguments_go_where_they_are_used_first(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %x0 = "ipu.to_shard"(%x) {shard = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp ins(%x0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %a1 = "ipu.to_shard"(%a) {shard = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %b = linalg.add ins(%a1, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %b : tensor<8xf32>
  }

  // CHECK-LABEL: func.func @each_shard_has_its_constants
  // CHECK-DAG: %[[C0:.*]] = arith.constant {ipu.shard = 0 : i64} dense
  // CHECK-DAG: %[[C1:.*]] = arith.constant {ipu.shard = 1 : i64} dense
  // CHECK-DAG: %[[E0:.*]] = tensor.empty() {ipu.shard = 0 : i64}
  // CHECK-DAG: %[[E1:.*]] = tensor.empty() {ipu.shard = 1 : i64}
  // CHECK: linalg.add {ipu.shard = 0 : i64} ins(%{{.*}}, %[[C0]] : {{.*}} outs(%[[E0]]
  // CHECK: linalg.add {ipu.shard = 1 : i64} ins(%{{.*}}, %[[C1]] : {{.*}} outs(%[[E1]]
  func.func @each_shard_has_its_constants(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %e = tensor.empty() : tensor<2xf32>
    %a = linalg.add {ipu.shard = 0 : i64} ins(%x, %c : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %b = linalg.add {ipu.shard = 1 : i64} ins(%y, %c : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    return %a, %b : tensor<2xf32>, tensor<2xf32>
  }

  // CHECK-LABEL: func.func @each_shard_counts_for_itself
  // CHECK-NOT: ipu.to_shard
  // CHECK: linalg.index 0
  // CHECK: } -> tensor<2xi32>
  // CHECK: linalg.index 0
  // CHECK: } -> tensor<2xi32>
  // CHECK-NOT: ipu.to_shard
  // CHECK: return
  func.func @each_shard_counts_for_itself(%x: tensor<2xi32>, %y: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
    %e = tensor.empty() : tensor<2xi32>
    %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<2xi32>) {
    ^bb0(%old: i32):
      %i = linalg.index 0 : index
      %n32 = arith.index_cast %i : index to i32
      linalg.yield %n32 : i32
    } -> tensor<2xi32>
    %a = linalg.add {ipu.shard = 0 : i64} ins(%x, %n : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    %b = linalg.add {ipu.shard = 1 : i64} ins(%y, %n : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
    return %a, %b : tensor<2xi32>, tensor<2xi32>
  }

  // What a loop carries stays where it began; each iteration brings the new value back.
  // CHECK-LABEL: func.func @loop_over_two_ipus
  // CHECK-SAME: tensor<8xf32> {ipu.shard = 0 : i64}
  // CHECK: scf.for
  // CHECK: %[[A:.*]] = linalg.exp {ipu.shard = 0 : i64}
  // CHECK: %[[THERE:.*]] = "ipu.to_shard"(%[[A]]) {shard = 1 : i64}
  // CHECK: %[[B:.*]] = linalg.tanh {ipu.shard = 1 : i64} ins(%[[THERE]]
  // CHECK: %[[BACK:.*]] = "ipu.to_shard"(%[[B]]) {shard = 0 : i64}
  // CHECK: scf.yield %[[BACK]]
  // CHECK: linalg.abs {ipu.shard = 0 : i64}
  func.func @loop_over_two_ipus(%x: tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %e = tensor.empty() : tensor<8xf32>
    %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<8xf32> {
      %a = linalg.exp {ipu.shard = 0 : i64} ins(%v : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %b = linalg.tanh {ipu.shard = 1 : i64} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %b : tensor<8xf32>
    }
    %s = linalg.abs ins(%r : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %s : tensor<8xf32>
  }

  // CHECK-LABEL: func.func @op_goes_where_most_of_its_operands_are
  // CHECK: %[[SMALL:.*]] = linalg.exp {ipu.shard = 0 : i64}
  // CHECK: %[[MOVED:.*]] = "ipu.to_shard"(%[[SMALL]]) {shard = 1 : i64}
  // CHECK: %[[LARGE:.*]] = linalg.exp {ipu.shard = 1 : i64}
  // CHECK: tensor.insert_slice %[[MOVED]] into %[[LARGE]]{{.*}} {ipu.shard = 1 : i64}
  func.func @op_goes_where_most_of_its_operands_are(%x: tensor<2xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %e2 = tensor.empty() : tensor<2xf32>
    %e8 = tensor.empty() : tensor<8xf32>
    %a = linalg.exp {ipu.shard = 0 : i64} ins(%x : tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %b = linalg.exp {ipu.shard = 1 : i64} ins(%y : tensor<8xf32>) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
    %c = tensor.insert_slice %a into %b[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
    return %c : tensor<8xf32>
  }

  // CHECK-LABEL: func.func @op_on_all_ipus_moves_nothing
  // CHECK: %[[A:.*]] = linalg.exp {ipu.shard = 0 : i64}
  // CHECK-NOT: ipu.to_shard
  // CHECK: linalg.tanh {ipu.shard = -1 : i64} ins(%[[A]]
  func.func @op_on_all_ipus_moves_nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %a = linalg.exp {ipu.shard = 0 : i64} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %all = "ipu.to_shard"(%a) {shard = -1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %b = linalg.tanh ins(%all : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    return %b : tensor<8xf32>
  }

  // CHECK-LABEL: func.func @no_shards
  // CHECK-NOT: shard
  // CHECK: return
  func.func @no_shards(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
