// RUN: ipu-opt %s --mlir-print-debuginfo | filecheck %s
// RUN: ipu-opt %s --mlir-print-debuginfo | ipu-opt --mlir-print-debuginfo | filecheck %s
// RUN: ipu-opt %s --mlir-elide-elementsattrs-if-larger=2 | filecheck %s --check-prefix=ELIDED
// RUN: ipu-opt %s | filecheck %s --check-prefix=PLAIN

// CHECK: return %{{.*}} : tensor<3xi32> loc(#[[LOC:.*]])
// CHECK: #[[LOC]] = loc("{{.*}}ipu-opt-printing.mlir":14:3)
// ELIDED: dense_resource<__elided__> : tensor<3xi32>
// PLAIN: dense<[1, 2, 3]> : tensor<3xi32>
// PLAIN-NOT: loc(

func.func @constant() -> tensor<3xi32> {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  return %0 : tensor<3xi32>
}
