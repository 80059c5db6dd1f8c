// RUN: ipu-opt %s --ipu-pad-bounded-sizes --split-input-file --verify-diagnostics

func.func @a_result_has_a_fixed_size(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>> {
  // expected-error @below {{gives a result of a size that depends on data; the sizes of a program are fixed}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return %0 : tensor<?xf32, #stablehlo.bounds<4>>
}

// -----

func.func @padding_in_the_middle(%x: tensor<2x4xf32>, %n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 4>>
  // expected-error @below {{takes a tensor of a size that depends on data}}
  %1 = stablehlo.reshape %0 : (tensor<2x?xf32, #stablehlo.bounds<?, 4>>) -> tensor<?xf32, #stablehlo.bounds<8>>
  %2 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?xf32, #stablehlo.bounds<8>>) -> tensor<i32>
  return %2 : tensor<i32>
}
