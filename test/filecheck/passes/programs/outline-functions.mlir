// RUN: ipu-opt %s --ipu-outline-functions --inline --symbol-dce | filecheck %s

"ipu.variable"() {sym_name = "v", type = tensor<4xf32>} : () -> ()

// CHECK: func.func private @first
func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-NOT: @alike
func.func private @alike(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
func.func private @with_state() -> tensor<4xf32> {
  %y = "ipu.read"() {variable = @v} : () -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK-NOT: @with_state
func.func private @around() -> tensor<4xf32> {
  %y = func.call @with_state() {ipu.outlined} : () -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @functions_that_are_alike_are_one
// CHECK: %[[Y:.*]] = call @first(%{{.*}}) {ipu.outlined, no_inline}
// CHECK: call @first(%[[Y]]) {ipu.outlined, no_inline}
func.func @functions_that_are_alike_are_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @first(%x) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  %z = func.call @alike(%y) {ipu.outlined} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @what_has_state_is_inlined
// CHECK-NOT: call
// CHECK: "ipu.read"
func.func @what_has_state_is_inlined() -> tensor<4xf32> {
  %y = func.call @around() {ipu.outlined} : () -> tensor<4xf32>
  return %y : tensor<4xf32>
}
