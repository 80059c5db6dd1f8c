// RUN: not ipu-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

// CHECK: ipu-opt-verify-diagnostics-invalid.mlir:9:3: error: unexpected error: 'func.return' op has 0 operands
// CHECK-NEXT: ipu-opt-verify-diagnostics-invalid.mlir:8:1: error: expected error "has 7 operands" was not produced at line 9
// CHECK-NEXT: ipu-opt-verify-diagnostics-invalid.mlir:15:1: error: expected error "nothing like this" was not produced at line 16
// CHECK-NOT: error
func.func @wrong_text() -> i32 {
  // expected-error @below {{has 7 operands}}
  return
}

// -----

func.func @valid() {
  // expected-error @below {{nothing like this}}
  return
}
