// The parts that are right are printed all the same; a file with some of them would be taken for the whole.
// RUN: not ipu-opt %s --split-input-file 2>%t.err | filecheck %s
// RUN: filecheck %s --input-file=%t.err --check-prefix=ERROR
// RUN: cp %s %t.mlir
// RUN: not ipu-opt %s --split-input-file -o %t.mlir
// RUN: diff %s %t.mlir

// ERROR: ipu-opt-split-input-invalid.mlir:25:8: error: 'arith.addf' op expected 2 operands, but found 1
// ERROR-NEXT: {{^}}  %y = "arith.addf"(%x) : (f32) -> f32{{$}}
// ERROR-NEXT: {{^       \^$}}
// ERROR-NEXT: ipu-opt-split-input-invalid.mlir:25:8: note: see current operation: %0 = "arith.addf"(%arg0)
// ERROR-NOT: error

// CHECK-LABEL: func.func @first
// CHECK: // -----
// CHECK-NEXT: // -----
// CHECK: func.func @third
func.func @first() {
  return
}

// -----

func.func @second(%x: f32) -> f32 {
  %y = "arith.addf"(%x) : (f32) -> f32
  return %y : f32
}

// -----

func.func @third() {
  return
}
