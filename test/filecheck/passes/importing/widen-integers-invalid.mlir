// RUN: ipu-opt %s --ipu-widen-integers --split-input-file --verify-diagnostics

func.func @zeros(%x: i4) -> i4 {
  // expected-error @below {{'math.ctlz' op has no form for integers of 4 bits; convert them to int8 or wider before, and the results after}}
  %0 = math.ctlz %x : i4
  return %0 : i4
}

// -----

func.func @product(%x: tensor<2x3xi4>, %y: tensor<3x2xi4>, %z: tensor<2x2xi4>) -> tensor<2x2xi4> {
  // expected-error @below {{'linalg.matmul' op has sums of 4 bits; convert them to int8 or wider before, and the results after}}
  %0 = linalg.matmul ins(%x, %y : tensor<2x3xi4>, tensor<3x2xi4>) outs(%z : tensor<2x2xi4>) -> tensor<2x2xi4>
  return %0 : tensor<2x2xi4>
}
