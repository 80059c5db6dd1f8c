// RUN: ipu-opt %s --ipu-partition | filecheck %s
// RUN: ipu-opt %s --ipu-partition=plan=balanced | filecheck %s
// RUN: ipu-opt %s --ipu-partition --ipu-place-tensors | filecheck %s --check-prefix=PLACED

module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 4}>} {
  // CHECK-DAG: #[[HOME0:.*]] = #ipu.mapping<8, {{\[}}[2, 8, 1, 1]], 0, 0>
  // CHECK-DAG: #[[HOME1:.*]] = #ipu.mapping<8, {{\[}}[2, 8, 1, 1]], 0, 4>
  // CHECK-DAG: #[[PARTS0:.*]] = #ipu.parts<{{\[}}[2, 8, 1]], 0>
  // CHECK-DAG: #[[PARTS1:.*]] = #ipu.parts<{{\[}}[2, 8, 1]], 4>
  // CHECK-DAG: #[[ALL:.*]] = #ipu.parts<{{\[}}[2, 16, 1]], 0>
  // CHECK-LABEL: func.func @each_op_on_the_tiles_of_its_ipu
  // CHECK-SAME: ipu.map = #[[HOME0]], ipu.shard = 0
  // CHECK: linalg.exp {{.*}}ipu.parts = #[[PARTS0]]
  // CHECK: "ipu.to_shard"(%{{.*}}) {ipu.map = #[[HOME1]], shard = 1 : i64}
  // CHECK: linalg.exp {{.*}}ipu.parts = #[[PARTS1]]
  // PLACED-LABEL: func.func @each_op_on_the_tiles_of_its_ipu
  // PLACED: tensor.cast %{{.*}} : tensor<8xf32, #[[FROM:.*]]> to tensor<8xf32, #[[TO:.*]]>
  // PLACED-NOT: ipu.shard
  // PLACED-NOT: ipu.to_shard
  func.func @each_op_on_the_tiles_of_its_ipu(%x: tensor<8xf32> {ipu.shard = 0 : i64}) -> tensor<8xf32> {
    %e0 = tensor.empty() {ipu.shard = 0 : i64} : tensor<8xf32>
    %a = linalg.exp {ipu.shard = 0 : i64} ins(%x : tensor<8xf32>) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
    %b = "ipu.to_shard"(%a) {shard = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %e1 = tensor.empty() {ipu.shard = 1 : i64} : tensor<8xf32>
    %c = linalg.exp {ipu.shard = 1 : i64} ins(%b : tensor<8xf32>) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
    return %c : tensor<8xf32>
  }

  // CHECK-LABEL: func.func @shard_of_all_ipus
  // CHECK: linalg.exp {{.*}}ipu.parts = #[[ALL]]
  func.func @shard_of_all_ipus(%x: tensor<16xf32> {ipu.shard = -1 : i64}) -> tensor<16xf32> {
    %e = tensor.empty() {ipu.shard = -1 : i64} : tensor<16xf32>
    %a = linalg.exp {ipu.shard = -1 : i64} ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
    return %a : tensor<16xf32>
  }

  // What is only passed on lies on the IPU of its first user as well.
  // CHECK-LABEL: func.func @argument_that_is_returned
  // CHECK-SAME: %{{.*}}: tensor<8xf32> {ipu.map = #[[HOME1]]
  func.func @argument_that_is_returned(%x: tensor<8xf32> {ipu.shard = 1 : i64}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
