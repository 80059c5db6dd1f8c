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

"ipu.remote_buffer"() {sym_name = "b", type = tensor<10x4xf32>} : () -> ()
"ipu.remote_buffer"() {sym_name = "t", type = tensor<10xf32>, memory = "host"} : () -> ()

// CHECK-LABEL: func.func @rows_are_fetched_and_stored
// CHECK-SAME: %[[I:.*]]: index
// CHECK-NEXT: %[[B:.*]] = memref.alloc() : memref<4xf32, #[[HOME]]>
// CHECK-NEXT: "ipu.fetch"(%[[B]], %[[I]]) {buffer = @b} : (memref<4xf32, #[[HOME]]>, index) -> ()
// CHECK-NEXT: %[[X:.*]] = bufferization.to_tensor %[[B]] restrict writable
// CHECK-NEXT: %[[P:.*]] = bufferization.to_buffer %[[X]] read_only
// CHECK-NEXT: "ipu.remote_store"(%[[P]], %[[I]]) {buffer = @b} : (memref<4xf32, #[[HOME]]>, index) -> ()
func.func @rows_are_fetched_and_stored(%i: index) {
  %idle = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<4xf32, #home>
  %x = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<4xf32, #home>
  "ipu.remote_store"(%x, %i) {buffer = @b} : (tensor<4xf32, #home>, index) -> ()
  return
}

// CHECK-LABEL: func.func @rows_of_a_table
// CHECK-NEXT: %[[R:.*]] = bufferization.to_buffer %{{.*}} read_only
// CHECK-NEXT: %[[A:.*]] = memref.alloc() : memref<4xf32, #[[HOME]]>
// CHECK-NEXT: "ipu.fetch"(%[[A]], %[[R]]) {buffer = @t} : (memref<4xf32, #[[HOME]]>, memref<4xi32, #[[HOME]]>) -> ()
// CHECK: "ipu.host_update_add"(%{{.*}}, %{{.*}}) {buffer = @t, every = 2 : i64} : (memref<4xi32, #[[HOME]]>, memref<4xf32, #[[HOME]]>) -> ()
func.func @rows_of_a_table(%rows: tensor<4xi32, #home>) {
  %x = "ipu.host_gather"(%rows) {buffer = @t} : (tensor<4xi32, #home>) -> tensor<4xf32, #home>
  "ipu.host_update_add"(%rows, %x) {buffer = @t, every = 2} : (tensor<4xi32, #home>, tensor<4xf32, #home>) -> ()
  return
}
