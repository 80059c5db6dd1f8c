// RUN: ipu-opt %s --ipu-place-tensors --split-input-file --verify-diagnostics

func.func @structured_op_that_was_not_partitioned(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{has no ipu.homes: run ipu-partition first, which decides where its results are stored}}
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @branch_that_was_not_partitioned(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-error @below {{has no ipu.homes}}
  %y = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
