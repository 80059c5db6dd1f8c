// RUN: ipu-opt %s --ipu-bufferize-streams | filecheck %s

#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
"ipu.infeed"() {sym_name = "q", types = [tensor<4xf32>, tensor<4xf32>]} : () -> ()
"ipu.outfeed"() {sym_name = "o", types = [tensor<4xf32>], mode = "all"} : () -> ()

// CHECK-LABEL: func.func @element_is_received_and_put
// CHECK: "ipu.dequeue"
// CHECK-NEXT: %[[B:.*]] = memref.alloc() : memref<4xf32, #[[HOME:.*]]>
// CHECK-NEXT: "ipu.receive"(%[[B]]) {index = 1 : i64, queue = @q} : (memref<4xf32, #[[HOME]]>) -> ()
// CHECK-NEXT: %[[X:.*]] = bufferization.to_tensor %[[B]] restrict writable : memref<4xf32, #[[HOME]]> to tensor<4xf32, #[[HOME]]>
// CHECK-NEXT: %[[P:.*]] = bufferization.to_buffer %[[X]] read_only
// CHECK-NEXT: "ipu.put"(%[[P]]) {index = 0 : i64, queue = @o} : (memref<4xf32, #[[HOME]]>) -> ()
// CHECK-NEXT: "ipu.enqueue"
func.func @element_is_received_and_put() {
  "ipu.dequeue"() {queue = @q} : () -> ()
  %idle = "ipu.element"() {queue = @q, index = 0} : () -> tensor<4xf32, #home>
  %x = "ipu.element"() {queue = @q, index = 1} : () -> tensor<4xf32, #home>
  "ipu.put"(%x) {queue = @o, index = 0} : (tensor<4xf32, #home>) -> ()
  "ipu.enqueue"() {queue = @o} : () -> ()
  return
}
