// RUN: not ipu-opt %S/../../Inputs/truncated.mlir 2>&1 | filecheck %s
// CHECK: truncated.mlir:2:24: error: expected ':' (the input ends here; is it cut off?)
// CHECK-NOT: error
