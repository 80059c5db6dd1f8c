// RUN: ipu-opt %s --cse --canonicalize --mlir-print-ir-after-all 2>&1 >%t | filecheck %s --check-prefix=AFTER
// RUN: filecheck %s --input-file=%t
// RUN: ipu-opt %s --cse --canonicalize --mlir-print-ir-before-all 2>&1 >%t | filecheck %s --check-prefix=BEFORE
// RUN: ipu-opt %s --cse --canonicalize --mlir-print-ir-after=cse 2>&1 >%t | filecheck %s --check-prefix=ONE
// RUN: ipu-opt %s --cse --canonicalize --mlir-print-ir-before=canonicalize 2>&1 >%t | filecheck %s --check-prefix=ONE-BEFORE
// RUN: not ipu-opt %s --cse --mlir-print-ir-after=canonicalize 2>&1 | filecheck %s --check-prefix=ABSENT

// AFTER: // -----// IR Dump After cse //----- //
// AFTER: %[[SUM:.*]] = arith.addi
// AFTER-NEXT: arith.subi %[[SUM]], %[[SUM]]
// AFTER: // -----// IR Dump After canonicalize //----- //
// AFTER-NOT: arith.subi
// AFTER-NOT: IR Dump

// BEFORE: // -----// IR Dump Before cse //----- //
// BEFORE: arith.addi
// BEFORE: arith.addi
// BEFORE: // -----// IR Dump Before canonicalize //----- //
// BEFORE: arith.addi
// BEFORE-NOT: arith.addi

// ONE: IR Dump After cse
// ONE-NOT: IR Dump

// ONE-BEFORE: IR Dump Before canonicalize
// ONE-BEFORE-NOT: IR Dump

// ABSENT: ipu-opt: error: cannot print the IR around 'canonicalize': the pipeline does not run it

// CHECK-LABEL: func.func @nothing_is_left
// CHECK-NOT: arith.addi
func.func @nothing_is_left(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.subi %0, %1 : i32
  return %2 : i32
}
