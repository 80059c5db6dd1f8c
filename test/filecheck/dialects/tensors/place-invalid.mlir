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

// -----

func.func @place_changes_the_type(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error @below {{'ipu.place' op gives tensor<4xi32> for tensor<4xf32>; a place keeps the type}}
  %y = "ipu.place"(%x) {mapping = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>} : (tensor<4xf32>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// -----

func.func @place_of_a_scalar(%x: f32) -> f32 {
  // expected-error @below {{'ipu.place' op places f32; only a ranked tensor of static shape lies on tiles}}
  %y = "ipu.place"(%x) {mapping = #ipu.mapping<1, [], 0, 3>} : (f32) -> f32
  return %y : f32
}

// -----

func.func @place_of_an_unknown_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'ipu.place' op places tensor<?xf32>; only a ranked tensor of static shape lies on tiles}}
  %y = "ipu.place"(%x) {mapping = #ipu.mapping<1, [], 0, 3>} : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @mapping_has_a_short_entry(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ipu.place' op has #ipu.mapping<4, [[2, 4]], 0, 0> with the entry [2, 4]; each entry is [block, extent, stride, tile_step]}}
  %y = "ipu.place"(%x) {mapping = #ipu.mapping<4, [[2, 4]], 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
