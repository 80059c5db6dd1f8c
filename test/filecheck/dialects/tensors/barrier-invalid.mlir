// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @the_type_changes(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error @below {{'ipu.barrier' op gives tensor<4xi32> for tensor<4xf32>; it keeps the type}}
  %y = "ipu.barrier"(%x) : (tensor<4xf32>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}
