// RUN: ipu-opt %s --ipu-set-target=io-tiles=2 --ipu-use-io-tiles | filecheck %s
// RUN: ipu-opt %s --ipu-use-io-tiles | filecheck %s --check-prefix=NONE
// RUN: ipu-opt %s --ipu-set-target=io-tiles=2 --ipu-use-io-tiles=proportion=0.00001 | filecheck %s --check-prefix=NONE

// NONE-NOT: ipu.place
// CHECK: #[[IO:.*]] = #ipu.mapping<16, {{\[\[}}8, 16, 1, 1]], 0, 6>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 8}>} {
  "ipu.infeed"() {sym_name = "feed", types = [tensor<16xf32>, tensor<8xf32>], prefetch_depth = 3 : i64} : () -> ()
  "ipu.outfeed"() {sym_name = "log", types = [tensor<16xf32>], mode = "all"} : () -> ()

  // Elements come to tiles 6 and 7, all of them before the first one moves on.
  // CHECK-LABEL: func.func @main
  // CHECK: %[[X:.*]] = "ipu.element"() {index = 0
  // CHECK-NEXT: %[[Y:.*]] = "ipu.element"() {index = 1
  // CHECK-DAG: %[[PX:.*]] = "ipu.place"(%[[X]]) {mapping = #[[IO]]} : (tensor<16xf32>)
  // CHECK-DAG: %[[HERE:.*]] = "ipu.to_shard"(%[[PX]]) {shard = 0 : i64}
  // CHECK-DAG: "ipu.place"(%[[Y]])
  // CHECK: %[[E:.*]] = linalg.exp ins(%[[HERE]] :
  // CHECK: %[[DONE:.*]] = "ipu.to_shard"(%[[E]]) {shard = 0 : i64}
  // CHECK-NEXT: %[[OUT:.*]] = "ipu.place"(%[[DONE]]) {mapping = #[[IO]]}
  // CHECK-NEXT: "ipu.put"(%[[OUT]])

  func.func @main() -> tensor<8xf32> {
    "ipu.dequeue"() {queue = @feed} : () -> ()
    %x = "ipu.element"() {queue = @feed, index = 0 : i64} : () -> tensor<16xf32>
    %y = "ipu.element"() {queue = @feed, index = 1 : i64} : () -> tensor<8xf32>
    %empty = tensor.empty() : tensor<16xf32>
    %e = linalg.exp ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
    "ipu.put"(%e) {queue = @log, index = 0 : i64} : (tensor<16xf32>) -> ()
    "ipu.enqueue"() {queue = @log} : () -> ()
    return %y : tensor<8xf32>
  }
}
