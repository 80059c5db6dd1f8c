// RUN: ipu-opt %s | filecheck %s

// CHECK: dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK: dense<[true, false, true]> : tensor<3xi1>
// CHECK-NOT: dialect_resources
func.func @weights() -> (tensor<2xf32>, tensor<3xi1>) {
  %0 = arith.constant dense_resource<torch.weight> : tensor<2xf32>
  %1 = arith.constant dense_resource<"mask"> : tensor<3xi1>
  return %0, %1 : tensor<2xf32>, tensor<3xi1>
}

{-#
  dialect_resources: {
    builtin: {
      torch.weight: "0x04000000000000000000803F",
      mask: "0x01000000010001"
    }
  }
#-}
