// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK: "ipu.remote_buffer"() {sym_name = "b", type = tensor<100x4xf32>} : () -> ()
"ipu.remote_buffer"() {sym_name = "b", type = tensor<100x4xf32>} : () -> ()
// CHECK: "ipu.remote_buffer"() {init = dense<1.000000e+00> : tensor<10x4xf16>, memory = "host", sym_name = "t", type = tensor<10x4xf16>} : () -> ()
"ipu.remote_buffer"() {sym_name = "t", type = tensor<10x4xf16>, memory = "host", init = dense<1.0> : tensor<10x4xf16>} : () -> ()
// CHECK: "ipu.remote_buffer"() {init = [dense<1.000000e+00> : tensor<4xf32>, dense<2.000000e+00> : tensor<4xf32>], sym_name = "v", type = tensor<2x4xf32>, variables = ["x", "y"]} : () -> ()
"ipu.remote_buffer"() {sym_name = "v", type = tensor<2x4xf32>, variables = ["x", "y"], init = [dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<4xf32>]} : () -> ()

// CHECK-LABEL: func.func @rows_come_and_go
// CHECK: %[[X:.*]] = "ipu.remote_load"(%[[I:.*]]) {buffer = @b} : (index) -> tensor<4xf32>
// CHECK: "ipu.remote_store"(%[[X]], %[[I]]) {buffer = @b} : (tensor<4xf32>, index) -> ()
// CHECK: "ipu.host_gather"(%{{.*}}) {buffer = @t} : (tensor<2x3xi32>) -> tensor<2x3x4xf16>
// CHECK: "ipu.host_update_add"(%{{.*}}) {buffer = @t, every = 2 : i64} : (tensor<2x3xi32>, tensor<2x3x4xf16>) -> ()
func.func @rows_come_and_go(%i: index, %rows: tensor<2x3xi32>) -> tensor<8x4xf32> {
  %x = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<4xf32>
  "ipu.remote_store"(%x, %i) {buffer = @b} : (tensor<4xf32>, index) -> ()
  %y = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<8x4xf32>
  %z = "ipu.host_gather"(%rows) {buffer = @t} : (tensor<2x3xi32>) -> tensor<2x3x4xf16>
  "ipu.host_update_add"(%rows, %z) {buffer = @t, every = 2} : (tensor<2x3xi32>, tensor<2x3x4xf16>) -> ()
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @buffers_in_supersteps
// CHECK: "ipu.fetch"(%{{.*}}, %{{.*}}) {buffer = @b} : (memref<8x4xf32, #{{.*}}>, index) -> ()
// CHECK: "ipu.remote_store"(%{{.*}}, %{{.*}}) {buffer = @b} : (memref<8x4xf32, #{{.*}}>, index) -> ()
#all = #ipu.mapping<32, [[32, 32, 1, 0]], 0, 0>
func.func @buffers_in_supersteps(%i: index) {
  %x = memref.alloc() : memref<8x4xf32, #all>
  "ipu.fetch"(%x, %i) {buffer = @b} : (memref<8x4xf32, #all>, index) -> ()
  "ipu.remote_store"(%x, %i) {buffer = @b} : (memref<8x4xf32, #all>, index) -> ()
  return
}
