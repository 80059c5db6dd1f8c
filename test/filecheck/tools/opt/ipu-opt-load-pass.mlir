// RUN: ipu-opt %s --load-pass %S/../Inputs/count_adds.py --test-count-adds | filecheck %s
// RUN: ipu-opt %s --load-pass=%S/../Inputs/count_adds.py --pass-pipeline='builtin.module(cse,func.func(test-count-adds{attribute=my.sums},canonicalize))' | filecheck %s --check-prefix=NESTED
// RUN: ipu-opt %s --load-pass %S/../Inputs/count_adds.py --test-count-adds='at-least=2' --verify-diagnostics

// CHECK: func.func @two(%{{.*}}: i32) -> (i32, i32) attributes {test.adds = 2 : i64}
// NESTED: func.func @two(%{{.*}}: i32) -> (i32, i32) attributes {my.sums = 1 : i64}
func.func @two(%a: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}

// expected-error @below {{'func.func' op has 0 additions, expected 2 or more}}
func.func @none() {
  return
}

// expected-error @below {{'func.func' op has 1 additions, expected 2 or more}}
func.func @one(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
