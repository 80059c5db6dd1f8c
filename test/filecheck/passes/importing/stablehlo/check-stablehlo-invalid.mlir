// RUN: ipu-opt %s --ipu-check-stablehlo --split-input-file --verify-diagnostics

func.func @all_at_once(%x: tensor<4xf32>, %s: tensor<i32>, %c: tensor<4xcomplex<f32>>, %t: !stablehlo.token) {
  // expected-error @below {{is not imported for complex numbers; write it with their real and imaginary parts}}
  %0 = stablehlo.cbrt %c : tensor<4xcomplex<f32>>
  // expected-error @below {{passes values to another program; give them as arguments}}
  %1 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // expected-error @below {{calls "my_kernel", which only the framework's own library has}}
  %2 = stablehlo.custom_call @my_kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{sets a size that depends on data}}
  %3 = stablehlo.set_dimension_size %x, %s, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  // expected-error @below {{is no op of StableHLO; export the program as StableHLO without mhlo}}
  %4 = "mhlo.topk"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{is not imported; write the program without it}}
  %5 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<i32>
  return
}

// -----

func.func @sizes(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{has tensor<?xf32>, whose sizes are not all known; export the program for fixed sizes}}
  %0 = stablehlo.abs %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
