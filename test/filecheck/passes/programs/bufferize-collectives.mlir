// RUN: ipu-opt %s --ipu-bufferize-collectives | filecheck %s

#home = #ipu.mapping<8, [[2, 8, 1, 1]], 0, 0>
#scalar = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32, #home>) -> (tensor<8xf32, #home>, tensor<i32, #scalar>) {
  // CHECK: %[[I:.*]] = memref.alloc() : memref<i32, #
  // CHECK: "ipu.number_replica"(%[[I]])
  // CHECK: %[[R:.*]] = bufferization.to_tensor %[[I]] restrict writable
  %r = "ipu.replica_index"() : () -> tensor<i32, #scalar>
  // CHECK: %[[Y:.*]] = memref.alloc() : memref<8xf32, #
  // CHECK: %[[X:.*]] = bufferization.to_buffer %{{.*}} read_only
  // CHECK: "ipu.collective"(%[[X]], %[[Y]]) {group = 2 : i64, kind = "all_reduce", op = "max"}
  // CHECK: bufferization.to_tensor %[[Y]] restrict writable
  %y = "ipu.all_reduce"(%x) {op = "max", group = 2} : (tensor<8xf32, #home>) -> tensor<8xf32, #home>
  // What nobody uses is not done.
  // CHECK-NOT: "ipu.collective"
  %z = "ipu.broadcast"(%x) : (tensor<8xf32, #home>) -> tensor<8xf32, #home>
  return %y, %r : tensor<8xf32, #home>, tensor<i32, #scalar>
}
