// RUN: ipu-opt %s --canonicalize --cse --symbol-dce | filecheck %s

// Each read sees what was assigned before it, and a variable that nobody uses is still there for the host.
// CHECK: sym_name = "w"
// CHECK: sym_name = "idle"
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
"ipu.variable"() {sym_name = "idle", type = tensor<4xf32>} : () -> ()

// CHECK-LABEL: func.func @reads_and_assigns_stay_in_order
// CHECK: %[[A:.*]] = "ipu.read"
// CHECK: "ipu.assign"(%{{.*}})
// CHECK: %[[B:.*]] = "ipu.read"
// CHECK: "ipu.assign"(%[[A]])
// CHECK: return %[[B]]
func.func @reads_and_assigns_stay_in_order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  "ipu.assign"(%x) {variable = @w} : (tensor<4xf32>) -> ()
  %b = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  "ipu.assign"(%a) {variable = @w} : (tensor<4xf32>) -> ()
  return %b : tensor<4xf32>
}
