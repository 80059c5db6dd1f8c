// RUN: ipu-opt %s --ipu-partition --split-input-file | filecheck %s

// A type without infinities has a lowest number: minus infinity would be NaN.
// CHECK-LABEL: func.func @the_lowest_number
// CHECK: arith.constant -4.480000e+02 : f8E4M3FN
// CHECK: linalg.fill
#parts = #ipu.parts<[[8, 8, 0], [1, 3, 1], [5, 5, 0]], 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 16}>} {
func.func @the_lowest_number(%x: tensor<8x3x5xf8E4M3FN>, %init: tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %y = linalg.reduce {arith.maximumf} ins(%x : tensor<8x3x5xf8E4M3FN>) outs(%init : tensor<8xf8E4M3FN>) dimensions = [1, 2]
    {ipu.parts = #parts}
  return %y : tensor<8xf8E4M3FN>
}
}

// -----

// CHECK-LABEL: func.func @the_highest_number
// CHECK: arith.constant 5.734400e+04 : f8E5M2FNUZ
// CHECK: linalg.fill
#parts = #ipu.parts<[[8, 8, 0], [1, 3, 1], [5, 5, 0]], 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 16}>} {
func.func @the_highest_number(%x: tensor<8x3x5xf8E5M2FNUZ>, %init: tensor<8xf8E5M2FNUZ>) -> tensor<8xf8E5M2FNUZ> {
  %y = linalg.reduce {arith.minimumf} ins(%x : tensor<8x3x5xf8E5M2FNUZ>) outs(%init : tensor<8xf8E5M2FNUZ>) dimensions = [1, 2]
    {ipu.parts = #parts}
  return %y : tensor<8xf8E5M2FNUZ>
}
}

// -----

// This one has infinities.
// CHECK-LABEL: func.func @minus_infinity
// CHECK: arith.constant 0xFC : f8E5M2
// CHECK: linalg.fill
#parts = #ipu.parts<[[8, 8, 0], [1, 3, 1], [5, 5, 0]], 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 16}>} {
func.func @minus_infinity(%x: tensor<8x3x5xf8E5M2>, %init: tensor<8xf8E5M2>) -> tensor<8xf8E5M2> {
  %y = linalg.reduce {arith.maximumf} ins(%x : tensor<8x3x5xf8E5M2>) outs(%init : tensor<8xf8E5M2>) dimensions = [1, 2]
    {ipu.parts = #parts}
  return %y : tensor<8xf8E5M2>
}
}
