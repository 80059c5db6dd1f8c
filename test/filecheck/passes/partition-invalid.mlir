// RUN: ipu-opt %s --ipu-partition --split-input-file --verify-diagnostics

func.func @op_without_indexing_maps(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'linalg.softmax' op has loops whose extents are not known; rewrite it as linalg.generic with static shapes}}
  %y = linalg.softmax dimension(0) ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @parts_of_another_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'linalg.exp' op has parts for 8 iterations of loop d0, which has 4}}
  %y = linalg.exp {ipu.parts = #ipu.parts<[[4, 8, 1]], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
func.func @parts_beyond_the_target(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{has parts on tiles 3 to 4, but the target has 4 tiles}}
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4, 1]], 3>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
}

// -----

func.func @parts_before_the_first_tile(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{has parts on tiles -1 to 0, but the target has 1472 tiles}}
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4, -1]], 0>}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @parts_that_write_one_element_twice(%x: tensor<4x2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @below {{has parts that write one element from two tiles; do not cut a loop the result lacks}}
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["parallel", "parallel"], ipu.parts = #ipu.parts<[[2, 4, 1], [2, 2, 0]], 0>}
      ins(%x : tensor<4x2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// expected-error @below {{'func.func' op cannot be placed: its argument 0 is mapped as an allocation of 8 elements, but has 4}}
func.func @argument_of_another_size(%x: tensor<4xf32> {ipu.map = #ipu.mapping<8, [[2, 8, 1, 1]], 0, 0>}) {
  return
}

// -----

// expected-error @below {{cannot be placed: its argument 1 is mapped beyond its 4 elements}}
func.func @argument_out_of_bounds(%x: f32, %y: tensor<4xf32> {ipu.map = #ipu.mapping<4, [[2, 4, 1, 1]], 1, 0>}) {
  return
}

// -----

// expected-error @below {{cannot be placed: its argument 0 has a mapping that puts two parts on one tile}}
func.func @argument_with_two_parts_on_a_tile(%x: tensor<4xf32> {ipu.map = #ipu.mapping<4, [[2, 4, 1, 0]], 0, 0>}) {
  return
}

// -----

// expected-error @below {{has a home mapping that puts an element on several tiles; a home holds each element once}}
func.func @argument_that_lies_twice(%x: tensor<4xf32> {ipu.map = #ipu.mapping<4, [[1, 2, 0, 1], [4, 4, 1, 0]], 0, 0>}) {
  return
}

// -----

// expected-error @below {{has a mapping that leaves elements on no tile; a home holds every element}}
func.func @argument_with_a_missing_part(%x: tensor<4xf32> {ipu.map = #ipu.mapping<4, [[2, 2, 1, 0]], 0, 0>}) {
  return
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
// expected-error @below {{is mapped to tiles 3 to 4, but the target has tiles 0 to 3}}
func.func @argument_beyond_the_target(%x: tensor<4xf32> {ipu.map = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 3>}) {
  return
}
}

// -----

func.func @placed_value_of_another_size(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ipu.place' op cannot be placed: its value is mapped as an allocation of 2 elements, but has 4}}
  %y = "ipu.place"(%x) {mapping = #ipu.mapping<2, [[1, 2, 1, 1]], 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @every_mistake_is_reported(
    // expected-error @-1 {{its argument 0 is mapped as an allocation of 2 elements, but has 4}}
    // expected-error @-2 {{its argument 1 is mapped as an allocation of 3 elements, but has 4}}
    %x: tensor<4xf32> {ipu.map = #ipu.mapping<2, [[1, 2, 1, 1]], 0, 0>},
    %y: tensor<4xf32> {ipu.map = #ipu.mapping<3, [[1, 3, 1, 1]], 0, 0>}) {
  return
}
