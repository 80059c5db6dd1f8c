// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK-LABEL: func.func @values_of_rounds_ago
// CHECK: "ipu.fifo"(%{{.*}}) {depth = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: "ipu.fifo"(%{{.*}}) {depth = 0 : i64, offload} : (tensor<4xf32>) -> tensor<4xf32>
func.func @values_of_rounds_ago(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "ipu.fifo"(%x) {depth = 2} : (tensor<4xf32>) -> tensor<4xf32>
  %z = "ipu.fifo"(%y) {depth = 0, offload} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
