// RUN: ipu-opt %s --split-input-file --verify-diagnostics

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @source_is_no_buffer(%x: tensor<4xf32>, %y: memref<4xf32, #a>) {
  // expected-error @below {{'ipu.exchange' op needs a memref as source, got tensor<4xf32>}}
  "ipu.exchange"(%x, %y) : (tensor<4xf32>, memref<4xf32, #a>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @dest_is_no_buffer(%x: memref<4xf32, #a>, %y: f32) {
  // expected-error @below {{needs a memref as dest, got f32}}
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, f32) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @source_without_mapping(%x: memref<4xf32>, %y: memref<4xf32, #a>) {
  // expected-error @below {{has a source that lies on no tile: memref<4xf32>; give it a #ipu.mapping as memory space}}
  "ipu.exchange"(%x, %y) : (memref<4xf32>, memref<4xf32, #a>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @dest_in_a_memory_space_that_is_no_mapping(%x: memref<4xf32, #a>, %y: memref<4xf32, 3>) {
  // expected-error @below {{has a dest that lies on no tile: memref<4xf32, 3>}}
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, memref<4xf32, 3>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#b = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @another_shape(%x: memref<4xf32, #a>, %y: memref<2x2xf32, #b>) {
  // expected-error @below {{moves 4 elements of f32 but fills 2x2 of f32; both sides need one shape and type}}
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, memref<2x2xf32, #b>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#b = #ipu.mapping<5, [[5, 5, 1, 0]], 0, 0>
func.func @another_size(%x: memref<4xf32, #a>, %y: memref<5xf32, #b>) {
  // expected-error @below {{moves 4 elements of f32 but fills 5 of f32}}
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, memref<5xf32, #b>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#b = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
func.func @another_element_type(%x: memref<4xf32, #a>, %y: memref<4xi32, #b>) {
  // expected-error @below {{moves 4 elements of f32 but fills 4 of i32}}
  "ipu.exchange"(%x, %y) : (memref<4xf32, #a>, memref<4xi32, #b>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @onto_itself(%x: memref<4xf32, #a>) {
  // expected-error @below {{moves nothing: both sides are one buffer in one mapping; remove it}}
  "ipu.exchange"(%x, %x) : (memref<4xf32, #a>, memref<4xf32, #a>) -> ()
  return
}

// -----

#a = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
func.func @one_operand(%x: memref<4xf32, #a>) {
  // expected-error @below {{op expects exactly 2 operands, but got 1}}
  "ipu.exchange"(%x) : (memref<4xf32, #a>) -> ()
  return
}
