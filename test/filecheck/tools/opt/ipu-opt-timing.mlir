// RUN: ipu-opt %s --pass-pipeline='builtin.module(cse,ipu-set-target{tiles=4},func.func(cse))' --mlir-timing 2>&1 >%t | filecheck %s
// RUN: ipu-opt %s --cse --mlir-timing --verify-each=0 2>&1 >%t | filecheck %s --check-prefix=UNVERIFIED

// CHECK: Execution time report
// CHECK: Total Execution Time: {{[0-9.]+}} seconds
// CHECK: ({{.*}}%) 1 parse
// CHECK-NEXT: ({{.*}}%) 2 cse
// CHECK-NEXT: ({{.*}}%) 3 verify
// CHECK-NEXT: ({{.*}}%) 1 ipu-set-target
// CHECK-NEXT: ({{.*}}%) 1 print
// CHECK-NEXT: (100.0%) 8 Total

// UNVERIFIED: cse
// UNVERIFIED-NOT: verify
func.func @f() {
  return
}
