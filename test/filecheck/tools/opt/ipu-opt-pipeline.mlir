// RUN: ipu-opt %s --pass-pipeline='builtin.module(canonicalize,func.func(cse))' | filecheck %s
// RUN: ipu-opt %s --canonicalize --cse | filecheck %s
// RUN: ipu-opt %s -canonicalize -cse | filecheck %s
// RUN: ipu-opt --pass-pipeline='canonicalize{max-iterations=3 top-down=true}, any(cse)' < %s | filecheck %s
// RUN: ipu-opt - --cse --canonicalize='max-iterations=3' < %s | filecheck %s
// RUN: cat %s | ipu-opt --cse | filecheck %s

// CHECK-LABEL: func.func @twice_the_same_sum_is_one
func.func @twice_the_same_sum_is_one(%a: i32) -> i32 {
  // CHECK-NEXT: %[[SUM:.*]] = arith.addi
  // CHECK-NEXT: arith.muli %[[SUM]], %[[SUM]]
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
