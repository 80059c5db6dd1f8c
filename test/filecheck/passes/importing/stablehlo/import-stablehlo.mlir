// RUN: ipu-opt %s --ipu-import-stablehlo | filecheck %s

// CHECK-LABEL: @unsigned_numbers_have_no_sign
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>) -> tensor<4xi32>
// CHECK: arith.divui
// CHECK-NOT: stablehlo
// CHECK-NOT: unrealized
func.func @unsigned_numbers_have_no_sign(%x: tensor<4xui32>) -> tensor<4xui32> {
  %c = stablehlo.constant dense<3> : tensor<4xui32>
  %0 = stablehlo.divide %x, %c : tensor<4xui32>
  return %0 : tensor<4xui32>
}
