// RUN: ipu-opt %s --ipu-place-tensors | filecheck %s
// RUN: ipu-opt %s --ipu-place-tensors --ipu-lower | filecheck %s --check-prefix=LOWERED

#ipu0 = #ipu.mapping<8, [[2, 8, 1, 1]], 0, 0>
#ipu1 = #ipu.mapping<8, [[2, 8, 1, 1]], 0, 4>
#turned = #ipu.mapping<8, [[2, 8, 1, -1]], 0, 7>

module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 4}>} {
  // CHECK-LABEL: func.func @from_ipu_to_ipu
  // CHECK: tensor.cast %{{.*}} {ipu.links} : tensor<8xf32, #[[A:.*]]> to tensor<8xf32, #[[B:.*]]>
  // CHECK-NOT: ipu.links
  // LOWERED-LABEL: func.func @from_ipu_to_ipu
  // LOWERED: "ipu.exchange"({{.*}}) {ipu.links} :
  // LOWERED-NOT: ipu.links
  // LOWERED: "ipu.exchange"({{[^)]*}}) : (memref
  // LOWERED: return
  func.func @from_ipu_to_ipu(%x: tensor<8xf32> {ipu.map = #ipu0}) -> (tensor<8xf32>, tensor<8xf32>) {
    %y = "ipu.to_shard"(%x) {shard = 1 : i64, ipu.map = #ipu1} : (tensor<8xf32>) -> tensor<8xf32>
    %z = "ipu.place"(%y) {mapping = #turned} : (tensor<8xf32>) -> tensor<8xf32>
    return %y, %z : tensor<8xf32>, tensor<8xf32>
  }
}
