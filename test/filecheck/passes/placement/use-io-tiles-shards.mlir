// RUN: ipu-opt %s --ipu-use-io-tiles | filecheck %s

// Of several IPUs, each has I/O tiles of its own; what belongs to no IPU is on the first one.
// CHECK-DAG: #[[FIRST:.*]] = #ipu.mapping<16, {{\[\[}}8, 16, 1, 1]], 0, 6>
// CHECK-DAG: #[[SECOND:.*]] = #ipu.mapping<16, {{\[\[}}8, 16, 1, 1]], 0, 14>
module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 8, io_tiles = 2}>} {
  "ipu.infeed"() {sym_name = "feed", types = [tensor<16xf32>, tensor<16xf32>], prefetch_depth = 3 : i64} : () -> ()

  // CHECK-LABEL: func.func @main
  // CHECK: %[[X:.*]] = "ipu.element"() {index = 0
  // CHECK: %[[Y:.*]] = "ipu.element"() {index = 1
  // CHECK-DAG: %[[PX:.*]] = "ipu.place"(%[[X]]) {mapping = #[[FIRST]]}
  // CHECK-DAG: "ipu.to_shard"(%[[PX]]) {shard = 0 : i64}
  // CHECK-DAG: %[[PY:.*]] = "ipu.place"(%[[Y]]) {mapping = #[[SECOND]]}
  // CHECK-DAG: "ipu.to_shard"(%[[PY]]) {shard = 1 : i64}
  func.func @main() -> (tensor<16xf32>, tensor<16xf32>) {
    "ipu.dequeue"() {queue = @feed} : () -> ()
    %x = "ipu.element"() {queue = @feed, index = 0 : i64} : () -> tensor<16xf32>
    %y = "ipu.element"() {queue = @feed, index = 1 : i64, ipu.shard = 1 : i64} : () -> tensor<16xf32>
    return %x, %y : tensor<16xf32>, tensor<16xf32>
  }
}
