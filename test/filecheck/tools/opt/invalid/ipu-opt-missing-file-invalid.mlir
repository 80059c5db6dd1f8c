// RUN: not ipu-opt %t.no-such-file 2>&1 | filecheck %s
// CHECK: ipu-opt-missing-file-invalid.mlir.tmp.no-such-file: error: cannot read the file: No such file or directory
// CHECK-NOT: error

// RUN: not ipu-opt %s %t 2>&1 | filecheck %s --check-prefix=TWO
// TWO: ipu-opt: error: expected one file, got
