// RUN: not ipu-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

// CHECK: ipu-opt-verify-diagnostics-invalid.mlir:15:3: error: unexpected error: 'func.return' op has 0 operands
// CHECK-NEXT: {{^  return$}}
// CHECK-NEXT: {{^  \^$}}
// CHECK-NEXT: ipu-opt-verify-diagnostics-invalid.mlir:14:1: error: expected error "has 7 operands" was not produced at line 15
// CHECK-NEXT: {{^}}  // expected
// CHECK-NEXT: {{^\^$}}
// CHECK-NEXT: ipu-opt-verify-diagnostics-invalid.mlir:21:1: error: expected error "nothing like this" was not produced at line 22
// CHECK-NEXT: {{^}}  // expected
// CHECK-NEXT: {{^\^$}}
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
