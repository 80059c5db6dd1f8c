// Which IR is printed around passes, and how much of it.
// RUN: ipu-opt %s --cse --symbol-dce --canonicalize --mlir-print-ir-after-change 2>&1 >%t | filecheck %s --check-prefix=CHANGE
// CHANGE: IR Dump After cse //
// CHANGE: IR Dump After canonicalize //
// CHANGE-NOT: IR Dump

// RUN: ipu-opt %s --cse --symbol-dce --mlir-print-ir-after=symbol-dce --mlir-print-ir-after-change 2>&1 >%t | filecheck %s --allow-empty --check-prefix=NEITHER
// NEITHER-NOT: IR Dump

// RUN: not ipu-opt %s --cse --load-pass %S/../Inputs/count_adds.py --test-count-adds='at-least=9' --mlir-print-ir-after-failure 2>&1 >%t | filecheck %s --check-prefix=FAILURE
// FAILURE-NOT: IR Dump After cse
// FAILURE: // -----// IR Dump After test-count-adds Failed //----- //
// FAILURE: error:

// RUN: ipu-opt %s --pass-pipeline='builtin.module(func.func(cse))' --mlir-print-ir-after-all --mlir-print-ir-module-scope 2>&1 >%t | filecheck %s --check-prefix=MODULE
// MODULE: // -----// IR Dump After cse ('func.func' operation: @sum) //----- //
// MODULE-NEXT: module {
// MODULE: func.func @none
// MODULE: // -----// IR Dump After cse ('func.func' operation: @none) //----- //
// MODULE-NEXT: module {
// MODULE: func.func @sum

// RUN: ipu-opt %s --cse --mlir-print-ir-after-all --mlir-print-op-generic --mlir-elide-elementsattrs-if-larger=1 2>&1 >%t | filecheck %s --check-prefix=HOW
// HOW: "func.func"
// HOW: dense_resource<__elided__>

// RUN: ipu-opt %s --cse --dump-pass-pipeline --canonicalize='max-iterations=3' 2>&1 >%t | filecheck %s --check-prefix=PIPELINE
// PIPELINE: {{^}}builtin.module(cse,canonicalize{max-iterations=3}){{$}}

// RUN: ipu-opt %s --cse --symbol-dce --mlir-pass-statistics 2>&1 >%t | filecheck %s --check-prefix=STATISTICS
// STATISTICS: Pass statistics report
// STATISTICS: ----Ops before---- ----Ops after---- ----Change---- ----Name----
// STATISTICS-NEXT: 10 9 -1 cse
// STATISTICS-NEXT: 9 9 +0 symbol-dce
func.func @sum(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %0 = arith.addi %a, %a : tensor<2xi32>
  %1 = arith.addi %a, %a : tensor<2xi32>
  %2 = arith.subi %0, %1 : tensor<2xi32>
  %c = arith.constant dense<[1, 2]> : tensor<2xi32>
  %3 = arith.addi %2, %c : tensor<2xi32>
  return %2, %3 : tensor<2xi32>, tensor<2xi32>
}
func.func @none() {
  return
}
