// RUN: ipu-opt %s --ipu-expand-fifos | filecheck %s

// CHECK-DAG: "ipu.variable"() {init = dense<0.000000e+00> : tensor<3x4xf32>, sym_name = "fifo_1", type = tensor<3x4xf32>} : () -> ()
// CHECK-DAG: "ipu.variable"() {init = dense<0> : tensor<i32>, sym_name = "fifo_1_oldest", type = tensor<i32>} : () -> ()
// CHECK-DAG: "ipu.remote_buffer"() {sym_name = "fifo_2", type = tensor<1x4xf32>} : () -> ()

// CHECK-LABEL: func.func @the_oldest_value_gives_way_to_the_new_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[AT:.*]] = tensor.extract %{{.*}}[] : tensor<i32>
// CHECK: %[[I:.*]] = arith.index_cast %[[AT]]
// CHECK: %[[RING:.*]] = "ipu.read"() {variable = @fifo_1}
// CHECK: %[[Y:.*]] = tensor.extract_slice %[[RING]][%[[I]], 0] [1, 4] [1, 1]
// CHECK: %[[NEW:.*]] = tensor.insert_slice %[[X]] into %[[RING]][%[[I]], 0] [1, 4] [1, 1]
// CHECK: "ipu.assign"(%[[NEW]]) {variable = @fifo_1}
// CHECK: "ipu.assign"(%{{.*}}) {variable = @fifo_1_oldest}
// CHECK: return %[[Y]]
"ipu.variable"() {sym_name = "fifo_0_oldest", type = tensor<i32>} : () -> ()
func.func @the_oldest_value_gives_way_to_the_new_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.fifo"(%x) {depth = 3} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @one_value_in_remote_memory
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[Y:.*]] = "ipu.remote_load"(%[[ZERO]]) {buffer = @fifo_2}
// CHECK-NEXT: "ipu.remote_store"(%[[X]], %[[ZERO]]) {buffer = @fifo_2}
// CHECK-NEXT: return %[[Y]]
func.func @one_value_in_remote_memory(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.fifo"(%x) {depth = 1, offload} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_delay
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @no_delay(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.fifo"(%x) {depth = -1} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
