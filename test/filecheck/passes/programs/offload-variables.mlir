// RUN: ipu-opt %s --ipu-offload-variables | filecheck %s --check-prefixes=CHECK,MARKED
// RUN: ipu-opt %s --pass-pipeline='builtin.module(ipu-offload-variables{minimum-bytes=16})' | filecheck %s --check-prefixes=CHECK,LARGE

// CHECK: "ipu.remote_buffer"() {init = dense<1.000000e+00> : tensor<2xf32>, sym_name = "w", type = tensor<1x2xf32>, variable} : () -> ()
"ipu.variable"() {sym_name = "w", type = tensor<2xf32>, init = dense<1.0> : tensor<2xf32>, offload} : () -> ()
// MARKED-NEXT: "ipu.variable"() {{.*}}sym_name = "large"
// LARGE-NEXT: "ipu.remote_buffer"() {{.*}}sym_name = "large"
"ipu.variable"() {sym_name = "large", type = tensor<4xf32>, init = dense<1.0> : tensor<4xf32>} : () -> ()
// CHECK-NEXT: "ipu.variable"() {{.*}}sym_name = "given"
"ipu.variable"() {sym_name = "given", type = tensor<4xf32>} : () -> ()

// CHECK-LABEL: func.func @what_was_stored_is_not_loaded_again
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
// CHECK: "ipu.remote_store"(%[[X]], %{{.*}}) {buffer = @w}
// CHECK-NOT: "ipu.remote_load"
// CHECK: return %[[X]]
func.func @what_was_stored_is_not_loaded_again(%x: tensor<2xf32>) -> tensor<2xf32> {
  "ipu.assign"(%x) {variable = @w} : (tensor<2xf32>) -> ()
  %y = "ipu.read"() {variable = @w} : () -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @blocks_inside_change_it
// CHECK: %[[FIRST:.*]] = "ipu.remote_load"
// CHECK: scf.if
// CHECK-NEXT: arith.constant
// CHECK-NEXT: "ipu.remote_store"
// CHECK: }
// CHECK: %[[AFTER:.*]] = "ipu.remote_load"
// CHECK: return %[[FIRST]], %[[FIRST]], %[[AFTER]]
func.func @blocks_inside_change_it(%x: tensor<2xf32>, %c: i1) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = "ipu.read"() {variable = @w} : () -> tensor<2xf32>
  %b = "ipu.read"() {variable = @w} : () -> tensor<2xf32>
  scf.if %c {
    "ipu.assign"(%x) {variable = @w} : (tensor<2xf32>) -> ()
  }
  %d = "ipu.read"() {variable = @w} : () -> tensor<2xf32>
  return %a, %b, %d : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
