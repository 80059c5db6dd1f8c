// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK: "ipu.infeed"() {prefetch_depth = 5 : i64, sym_name = "q", types = [tensor<8x4xf32>, tensor<8xi32>]} : () -> ()
"ipu.infeed"() {sym_name = "q", types = [tensor<8x4xf32>, tensor<8xi32>], prefetch_depth = 5} : () -> ()
// CHECK: "ipu.outfeed"() {mode = "last", sym_name = "o", types = [tensor<f32>]} : () -> ()
"ipu.outfeed"() {sym_name = "o", types = [tensor<f32>], mode = "last"} : () -> ()

// CHECK-LABEL: func.func @element_goes_through
// CHECK: "ipu.dequeue"() {queue = @q} : () -> ()
// CHECK: %[[X:.*]] = "ipu.element"() {index = 1 : i64, queue = @q} : () -> tensor<8xi32>
// CHECK: "ipu.put"(%{{.*}}) {index = 0 : i64, queue = @o} : (tensor<f32>) -> ()
// CHECK: "ipu.enqueue"() {queue = @o} : () -> ()
// CHECK: return %[[X]]
func.func @element_goes_through(%y: tensor<f32>) -> tensor<8xi32> {
  "ipu.dequeue"() {queue = @q} : () -> ()
  %x = "ipu.element"() {queue = @q, index = 1} : () -> tensor<8xi32>
  "ipu.put"(%y) {queue = @o, index = 0} : (tensor<f32>) -> ()
  "ipu.enqueue"() {queue = @o} : () -> ()
  return %x : tensor<8xi32>
}

// CHECK-LABEL: func.func @buffers_in_supersteps
// CHECK: "ipu.receive"(%{{.*}}) {index = 0 : i64, queue = @q} : (memref<8x4xf32, #{{.*}}>) -> ()
// CHECK: "ipu.put"(%{{.*}}) {index = 0 : i64, queue = @o} : (memref<f32, #{{.*}}>) -> ()
#all = #ipu.mapping<32, [[32, 32, 1, 0]], 0, 0>
#one = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>
func.func @buffers_in_supersteps(%y: memref<f32, #one>) {
  %x = memref.alloc() : memref<8x4xf32, #all>
  "ipu.dequeue"() {queue = @q} : () -> ()
  "ipu.receive"(%x) {queue = @q, index = 0} : (memref<8x4xf32, #all>) -> ()
  "ipu.put"(%y) {queue = @o, index = 0} : (memref<f32, #one>) -> ()
  "ipu.enqueue"() {queue = @o} : () -> ()
  return
}

// CHECK: "ipu.host_function"() {gives = [tensor<f32>, tensor<8xi32>], sym_name = "f", takes = []} : () -> ()
"ipu.host_function"() {sym_name = "f", takes = [], gives = [tensor<f32>, tensor<8xi32>]} : () -> ()

// CHECK-LABEL: func.func @host_is_called
// CHECK: "ipu.host_call"() {queue = @f} : () -> ()
func.func @host_is_called() -> tensor<8xi32> {
  "ipu.host_call"() {queue = @f} : () -> ()
  %x = "ipu.element"() {queue = @f, index = 1} : () -> tensor<8xi32>
  return %x : tensor<8xi32>
}
