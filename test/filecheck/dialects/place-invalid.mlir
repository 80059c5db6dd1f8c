// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @mapping_is_missing(%x: tensor<4xf32>) {
  // expected-error @below {{attribute "mapping" is expected but not provided}}
  %y = "ipu.place"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @mapping_is_a_number(%x: tensor<4xf32>) {
  // expected-error @below {{expected base attribute 'ipu.mapping' but got 'builtin.integer'}}
  %y = "ipu.place"(%x) {mapping = 3} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
