// RUN: ipu-opt %s --cse -o %t | filecheck %s --check-prefix=SILENT --allow-empty
// RUN: filecheck %s < %t
// A wrong program leaves the file as it was.
// RUN: not ipu-opt %S/../Inputs/wrong.mlir -o %t
// RUN: filecheck %s < %t
// RUN: not ipu-opt %s -o %t/not-a-folder/o.mlir 2>&1 | filecheck %s --check-prefix=NOWHERE

// SILENT-NOT: func
// NOWHERE: ipu-opt: error: cannot write {{.*}}o.mlir: Not a directory

// CHECK: func.func @written
func.func @written() {
  return
}
