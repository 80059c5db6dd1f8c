// RUN: not ipu-opt %s --split-input-file 2>&1 | filecheck %s
// RUN: ipu-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// CHECK: ipu-opt-unknown-op-invalid.mlir:6:17: error: operation being parsed with an unregistered dialect
func.func @unknown_dialect() {
  "nobody.knows"() : () -> ()
  return
}

// -----

// CHECK: ipu-opt-unknown-op-invalid.mlir:15:3: error: {{.*}}'ipu.twist'
func.func @unknown_op_of_ours() {
  // expected-error @below {{unregistered operation 'ipu.twist'}}
  "ipu.twist"() : () -> ()
  return
}
// CHECK-NOT: error
