// RUN: ipu-opt %s --ipu-merge-remote-buffers --canonicalize | filecheck %s
// RUN: ipu-opt %s --pass-pipeline='builtin.module(ipu-merge-remote-buffers{which=all},canonicalize)' | filecheck %s --check-prefix=ALL
// RUN: ipu-opt %s --pass-pipeline='builtin.module(ipu-merge-remote-buffers{which=none})' | filecheck %s --check-prefix=NONE

// CHECK-NEXT: module
// CHECK-NEXT: "ipu.remote_buffer"() {init = [dense<1.000000e+00> : tensor<4xf32>, dense<2.000000e+00> : tensor<4xf32>], sym_name = "a_to_b", type = tensor<2x4xf32>, variables = ["a", "b"]} : () -> ()
// CHECK-COUNT-5: sym_name
// CHECK-NOT: ipu.remote_buffer

// ALL: "ipu.remote_buffer"() {init = [{{.*}}], sym_name = "a_to_c_", type = tensor<3x4xf32>, variables = ["a", "b", "c"]} : () -> ()
// ALL: sym_name = "other_type"
// ALL: sym_name = "differs"
// ALL: sym_name = "rows"
// ALL: sym_name = "a_to_c"

// NONE-NOT: variables
"ipu.remote_buffer"() {sym_name = "a", type = tensor<1x4xf32>, init = dense<1.0> : tensor<4xf32>, variable} : () -> ()
"ipu.remote_buffer"() {sym_name = "b", type = tensor<1x4xf32>, init = dense<2.0> : tensor<4xf32>, variable} : () -> ()
"ipu.remote_buffer"() {sym_name = "c", type = tensor<1x4xf32>, init = dense<3.0> : tensor<4xf32>, variable} : () -> ()
"ipu.remote_buffer"() {sym_name = "other_type", type = tensor<1x4xi32>, init = dense<3> : tensor<4xi32>, variable} : () -> ()
"ipu.remote_buffer"() {sym_name = "differs", type = tensor<1x4xf32>, init = dense<3.0> : tensor<4xf32>, variable, ipu.varies = true} : () -> ()
"ipu.remote_buffer"() {sym_name = "rows", type = tensor<1x4xf32>} : () -> ()
"ipu.remote_buffer"() {sym_name = "a_to_c", type = tensor<8x8xf32>} : () -> ()

// CHECK-LABEL: func.func @one_place_of_two_calls
// CHECK: "ipu.remote_load"(%c0) {buffer = @a_to_b}
// CHECK: "ipu.remote_load"(%c1) {buffer = @a_to_b}
// CHECK: "ipu.remote_store"(%{{.*}}, %c1) {buffer = @a_to_b}
// CHECK: "ipu.remote_load"(%c0) {buffer = @c}
// CHECK: "ipu.remote_load"(%c0) {buffer = @rows}
// CHECK: "ipu.remote_load"(%c0) {buffer = @differs}
// ALL-LABEL: func.func @one_place_of_two_calls
// ALL: "ipu.remote_load"(%c2) {buffer = @a_to_c_}
func.func @one_place_of_two_calls() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %a = "ipu.remote_load"(%zero) {buffer = @a} : (index) -> tensor<4xf32>
  %x = call @double(%a) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "ipu.remote_load"(%zero) {buffer = @b} : (index) -> tensor<4xf32>
  %y = call @double(%b) {ipu.outlined, no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  "ipu.remote_store"(%x, %zero) {buffer = @b} : (tensor<4xf32>, index) -> ()
  %c = "ipu.remote_load"(%zero) {buffer = @c} : (index) -> tensor<4xf32>
  %d = "ipu.remote_load"(%zero) {buffer = @rows} : (index) -> tensor<4xf32>
  %e = "ipu.remote_load"(%zero) {buffer = @differs} : (index) -> tensor<4xf32>
  return %y, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
