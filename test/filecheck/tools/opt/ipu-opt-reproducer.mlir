// A pass that fails leaves a file that fails in the same way; one that does not leaves none.
// RUN: not ipu-opt %s --cse --load-pass %S/../Inputs/count_adds.py --test-count-adds='at-least=9' --mlir-pass-pipeline-crash-reproducer=%t.again.mlir 2>%t.first
// RUN: filecheck %s --input-file=%t.again.mlir
// RUN: not ipu-opt --run-reproducer %t.again.mlir --load-pass %S/../Inputs/count_adds.py 2>%t.second
// RUN: filecheck %s --input-file=%t.first --check-prefix=ERROR
// RUN: filecheck %s --input-file=%t.second --check-prefix=ERROR
// RUN: ipu-opt %s --cse --mlir-pass-pipeline-crash-reproducer=%t.none.mlir
// RUN: not cat %t.none.mlir
// RUN: cp %s %t.there.mlir
// RUN: ipu-opt %s --cse --mlir-pass-pipeline-crash-reproducer=%t.there.mlir
// RUN: diff %s %t.there.mlir
// RUN: not ipu-opt %s --cse --mlir-pass-pipeline-crash-reproducer=/dev/null 2>&1 | filecheck %s --check-prefix=DEVICE
// DEVICE: ipu-opt: error: --mlir-pass-pipeline-crash-reproducer needs a file, and /dev/null is none

// CHECK: // configuration: ipu-opt --run-reproducer
// CHECK: func.func @main
// CHECK: arith.addf
// CHECK: arith.addf
// CHECK: mlir_reproducer: {
// CHECK-NEXT: pipeline: "builtin.module(cse,test-count-adds{at-least=9})",
// CHECK: verify_each: true

// ERROR: ipu-opt-reproducer.mlir:{{[0-9]+}}:{{[0-9]+}}: error:

// RUN: not ipu-opt --run-reproducer %s 2>&1 | filecheck %s --check-prefix=NONE
// NONE: ipu-opt: error: --run-reproducer: {{.*}} does not end in a mlir_reproducer section with a pipeline
// RUN: not ipu-opt --run-reproducer %s --cse 2>&1 | filecheck %s --check-prefix=BOTH
// BOTH: ipu-opt: error: --run-reproducer and --cse exclude each other
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  %z = arith.addf %x, %x : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %s = linalg.add ins(%y, %z : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
