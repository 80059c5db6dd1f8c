// RUN: ipu-opt %s --ipu-partition-remote-buffers | filecheck %s

module attributes {ipu.target = #ipu.target<{replicas = 4}>} {
// CHECK: partition = "encoding", sym_name = "rows", type = tensor<6x3xf32>, whole = tensor<6x2x5xf32>
"ipu.remote_buffer"() {sym_name = "rows", type = tensor<6x2x5xf32>, partition = "encoding"} : () -> ()
// CHECK: partition = "token", sym_name = "words", type = tensor<2x5xf32>, whole = tensor<6x5xf32>
"ipu.remote_buffer"() {sym_name = "words", type = tensor<6x5xf32>, partition = "token"} : () -> ()

// CHECK-LABEL: func.func @part_of_a_row
func.func @part_of_a_row(%i: index) -> tensor<2x5xf32> {
  // CHECK: %[[OWN:.*]] = "ipu.remote_load"(%arg0) {buffer = @rows} : (index) -> tensor<3xf32>
  // CHECK-NEXT: %[[ALL:.*]] = "ipu.all_gather"(%[[OWN]]) : (tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: tensor.extract_slice %{{.*}}[0] [10] [1] : tensor<12xf32> to tensor<10xf32>
  %x = "ipu.remote_load"(%i) {buffer = @rows} : (index) -> tensor<2x5xf32>
  // CHECK: tensor.pad
  // CHECK: %[[R:.*]] = "ipu.replica_index"
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [1, 1, 3] [1, 1, 1] : tensor<4x1x3xf32> to tensor<1x3xf32>
  // CHECK: "ipu.remote_store"({{.*}}) {buffer = @rows} : (tensor<3xf32>, index) -> ()
  "ipu.remote_store"(%x, %i) {buffer = @rows} : (tensor<2x5xf32>, index) -> ()
  return %x : tensor<2x5xf32>
}

// Each looks up what all ask for and adds what all bring; what a replica gets is what its owner has found.
// CHECK-LABEL: func.func @some_rows
func.func @some_rows(%n: tensor<2xi32>, %u: tensor<2x5xf32>) -> tensor<2x5xf32> {
  // CHECK: %[[N:.*]] = "ipu.all_gather"(%arg0) : (tensor<2xi32>) -> tensor<4x2xi32>
  // CHECK: arith.divsi
  // CHECK: arith.remsi
  // CHECK: "ipu.host_gather"(%{{.*}}) {buffer = @words} : (tensor<4x2xi32>) -> tensor<4x2x5xf32>
  // CHECK: arith.select
  // CHECK: "ipu.reduce_scatter"(%{{.*}}) {op = "add"} : (tensor<40xf32>) -> tensor<10xf32>
  %x = "ipu.host_gather"(%n) {buffer = @words} : (tensor<2xi32>) -> tensor<2x5xf32>
  // CHECK: "ipu.host_update_add"(%{{.*}}, %{{.*}}) {buffer = @words, every = 2 : i64} : (tensor<4x2xi32>, tensor<4x2x5xf32>) -> ()
  "ipu.host_update_add"(%n, %u) {buffer = @words, every = 2} : (tensor<2xi32>, tensor<2x5xf32>) -> ()
  return %x : tensor<2x5xf32>
}
}
