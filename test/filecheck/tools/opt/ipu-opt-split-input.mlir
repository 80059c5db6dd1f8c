// RUN: ipu-opt %s --split-input-file --cse | filecheck %s
// RUN: not ipu-opt %s --cse 2>&1 | filecheck %s --check-prefix=WHOLE
// WHOLE: ipu-opt-split-input.mlir:16:1: error: redefinition of symbol named 'f'

// CHECK: func.func @f
// CHECK-NEXT: return
// CHECK: // -----
// CHECK-NOT: // -----
// CHECK: func.func @f
func.func @f() {
  return
}

// -----

func.func @f() {
  return
}
