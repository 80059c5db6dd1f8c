// RUN: ipu-opt %s --ipu-cut-copies | filecheck %s

#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#threes = #ipu.mapping<4, [[3, 4, 1, 1]], 0, 0>

// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[2, 4, 1]], 0>

// CHECK-LABEL: func.func @a_copy_in_one_mapping_is_cut_as_its_buffers_are
// CHECK: memref.copy {{.*}} {ipu.parts = #[[PARTS]]} : memref<4xf32, #{{m[0-9]+}}> to memref<4xf32
// CHECK: linalg.copy {ipu.parts = #[[PARTS]]}
func.func @a_copy_in_one_mapping_is_cut_as_its_buffers_are(%x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  memref.copy %x, %y : memref<4xf32, #home> to memref<4xf32, #home>
  linalg.copy ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #home>)
  return
}

// To another mapping, or to another part of a buffer, or where three elements a tile are no cut of rows of two.
// CHECK-LABEL: func.func @a_copy_that_moves_or_cannot_be_cut_has_no_parts
// CHECK-NOT: ipu.parts
func.func @a_copy_that_moves_or_cannot_be_cut_has_no_parts(%x: memref<4xf32, #home>, %y: memref<4xf32, #one>,
    %s: memref<2x2xf32, #threes>, %t: memref<2x2xf32, #threes>) {
  linalg.copy {ipu.parts = #ipu.parts<[[4, 4, 0]], 0>} ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #one>)
  %a = memref.subview %x[0] [2] [1] : memref<4xf32, #home> to memref<2xf32, strided<[1]>, #home>
  %b = memref.subview %x[2] [2] [1] : memref<4xf32, #home> to memref<2xf32, strided<[1], offset: 2>, #home>
  memref.copy %a, %b : memref<2xf32, strided<[1]>, #home> to memref<2xf32, strided<[1], offset: 2>, #home>
  memref.copy %s, %t : memref<2x2xf32, #threes> to memref<2x2xf32, #threes>
  return
}

// What a branch yields is the buffer in both of its arms.
// CHECK-LABEL: func.func @a_copy_of_a_buffer_to_itself_is_gone
// CHECK: linalg.copy
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @a_copy_of_a_buffer_to_itself_is_gone(%p: i1, %x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  %r = scf.if %p -> memref<4xf32, #home> {
    scf.yield %x : memref<4xf32, #home>
  } else {
    linalg.copy ins(%y : memref<4xf32, #home>) outs(%x : memref<4xf32, #home>)
    scf.yield %x : memref<4xf32, #home>
  }
  linalg.copy ins(%r : memref<4xf32, #home>) outs(%x : memref<4xf32, #home>)
  return
}

// CHECK-LABEL: func.func @a_copy_of_a_buffer_that_may_be_another_stays
// CHECK: linalg.copy
func.func @a_copy_of_a_buffer_that_may_be_another_stays(%p: i1, %x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  %r = scf.if %p -> memref<4xf32, #home> {
    scf.yield %x : memref<4xf32, #home>
  } else {
    scf.yield %y : memref<4xf32, #home>
  }
  linalg.copy ins(%r : memref<4xf32, #home>) outs(%x : memref<4xf32, #home>)
  return
}
