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

// -----

func.func @everything_that_is_not_known_is_reported(
    // expected-error @-1 {{'func.func' op has argument 0 with a size that is not known: tensor<?xf32>; name it with ipu-specialize-shapes}}
    // expected-error @-2 {{'func.func' op has argument 1 of type tensor<*xf32>, whose rank is not known; give it a shape}}
    // expected-error @-3 {{'func.func' op has argument 2 of type tensor<4xcomplex<f32>>, whose elements are no integers or floats}}
    // expected-error @-4 {{'func.func' op has argument 3 of type tensor<4xf32, #ipu.mapping<4 : i64, [], 0 : i64, 0 : i64>>, which says already where it lies; run ipu-anchor-hints}}
    %a: tensor<?xf32>, %b: tensor<*xf32>, %c: tensor<4xcomplex<f32>>, %d: tensor<4xf32, #ipu.mapping<4, [], 0, 0>>,
    %x: tensor<4xf32>, %i: index, %n: index, %s: tensor<1xi32>, %v: f32, %flag: i1) {
  // expected-error @below {{'arith.addf' op cannot be placed on tiles; write it as linalg on tensors}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  // expected-error @below {{'tensor.reshape' op cannot be placed on tiles; use tensor.collapse_shape and tensor.expand_shape}}
  %1 = tensor.reshape %x(%s) : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  // expected-error @below {{'tensor.extract' op reads one element outside vertices; run ipu-raise-element-ops}}
  %2 = tensor.extract %x[%i] : tensor<4xf32>
  // expected-error @below {{'tensor.extract_slice' op has a result with a size that is not known: tensor<?xf32>}}
  %3 = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
  // expected-error @below {{'tensor.extract_slice' op has an offset that is known only at run time; run ipu-raise-dynamic-slices}}
  %4 = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
  // expected-error @below {{'func.call' op cannot be placed on tiles; only functions with a body of one block}}
  %5 = func.call @declared(%x) : (tensor<4xf32>) -> tensor<4xf32>
  scf.if %flag {
    // expected-error @below {{'tensor.splat' op cannot be placed on tiles; run ipu-raise-splats}}
    %6 = tensor.splat %v : tensor<4xf32>
  }
  return
}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @several_blocks() {
  // expected-error @-1 {{'func.func' op has 2 blocks; write branches as scf.if and loops as scf.for or scf.while}}
  cf.br ^next
^next:
  return
}

// -----

func.func @no_iteration(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  // expected-error @below {{'linalg.exp' op runs no iteration; run ipu-drop-idle-ops}}
  %y = linalg.exp ins(%x : tensor<0x3xf32>) outs(%x : tensor<0x3xf32>) -> tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}

// -----

func.func @parts_with_a_short_entry(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.exp' op has #ipu.parts<[[2, 4]], 0> with the entry [2, 4]; each entry is [block, extent, tile_step]}}
  %y = linalg.exp {ipu.parts = #ipu.parts<[[2, 4]], 0>}
      ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op has #ipu.mapping<4, [[0, 4, 1, 1]], 0, 0>, which holds nothing: a block is at least 1}}
func.func @argument_in_blocks_of_nothing(%x: tensor<4xf32> {ipu.map = #ipu.mapping<4, [[0, 4, 1, 1]], 0, 0>}) {
  return
}

// -----

// expected-error @below {{'builtin.module' op has a target with the field 'tyles_per_ipu'; its fields are name, ipus, tiles_per_ipu}}
module attributes {ipu.target = #ipu.target<{tyles_per_ipu = 4}>} {
}

// -----

// expected-error @below {{'builtin.module' op a target needs ipus >= 1, got 0}}
module attributes {ipu.target = #ipu.target<{ipus = 0}>} {
}

// -----

func.func @empty_tensor_whose_user_cannot_follow(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{'tensor.empty' op cannot lie where its hint says: the op that fills it cannot be cut like that}}
  %e = tensor.empty() {ipu.map = #ipu.mapping<8, [[3, 8, 1, 1]], 0, 0>} : tensor<2x4xf32>
  %y = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<2x4xf32>) dimensions = [0]
  return %y : tensor<2x4xf32>
}

// -----

func.func @constant_beyond_its_elements() -> tensor<2xf32> {
  // expected-error @below {{'arith.constant' op cannot be placed: its value is mapped as an allocation of 4 elements, but has 2}}
  %y = arith.constant {ipu.map = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>} dense<[1.0, 2.0]> : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @sparse_constant() -> tensor<4xf32> {
  // expected-error @below {{'arith.constant' op has its elements not one by one in the program; write them as dense<...>}}
  %c = arith.constant sparse<[[1], [3]], [2.0, 4.0]> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @window_of_nothing(%x: tensor<0x8xf32>, %w: tensor<3x3xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{'linalg.conv_2d' op reads and writes outside of operand 0, which has no elements: tensor<0x8xf32>; give it its size}}
  %r = linalg.conv_2d ins(%x, %w : tensor<0x8xf32>, tensor<3x3xf32>) outs(%y : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

func.func @library_codelet_with_other_operands(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{calls the library codelet 'scan_add' with tensor<8xf32>, tensor<8xf32>; it needs one operand of three dimensions and a result of its shape}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"], library_call = "scan_add"}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @sum_of_loops(%x: tensor<2x2xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{has an index of result 0 that is not one loop; run ipu-normalize-indices while it is on tensors}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + j)>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<2x2xf32>) outs(%y : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

func.func @quotient(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has an index of operand 0 that is no sum of loops; run ipu-normalize-indices}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @an_op_without_a_cost(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has 'math.sincos' in its body, which has no cost; write bodies in the ops of arith and math on numbers}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32):
    %s, %c = math.sincos %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @a_type_without_a_row(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{computes f128 in its body, which no tile does; it can be f64, f32, f16}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32):
    %wide = arith.extf %a : f32 to f128
    %s = arith.addf %wide, %wide : f128
    %narrow = arith.truncf %s : f128 to f32
    linalg.yield %narrow : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @buffers_are_placed_already(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @below {{'linalg.exp' op is on buffers, such as memref<8xf32>; place tensors, before bufferization}}
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}
