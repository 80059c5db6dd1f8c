// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK: "ipu.variable"() {init = dense<0.000000e+00> : tensor<4xf32>, sym_name = "w", type = tensor<4xf32>} : () -> ()
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = dense<0.0> : tensor<4xf32>} : () -> ()

// CHECK: "ipu.variable"() {ipu.map = #[[ALL:m[0-9]+]], sym_name = "from_the_host", type = tensor<4xi8>} : () -> ()
"ipu.variable"() {sym_name = "from_the_host", type = tensor<4xi8>, ipu.map = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 7>} : () -> ()

// CHECK-LABEL: func.func @variable_is_read_and_assigned
// CHECK: %[[W:.*]] = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
// CHECK: %[[NEW:.*]] = arith.addf %[[W]]
// CHECK: "ipu.assign"(%[[NEW]]) {variable = @w} : (tensor<4xf32>) -> ()
func.func @variable_is_read_and_assigned(%x: tensor<4xf32>) {
  %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  %new = arith.addf %w, %x : tensor<4xf32>
  "ipu.assign"(%new) {variable = @w} : (tensor<4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @argument_is_assigned
// CHECK: "ipu.assigned"() {argument = 0 : i64} : () -> ()
func.func @argument_is_assigned(%x: memref<4xf32>) {
  "ipu.assigned"() {argument = 0 : i64} : () -> ()
  return
}
