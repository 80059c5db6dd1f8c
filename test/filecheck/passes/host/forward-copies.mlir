// RUN: ipu-opt %s --ipu-forward-copies --split-input-file | filecheck %s

// CHECK-LABEL: func.func @who_reads_a_copy_reads_its_source(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>) -> memref<4xf32> {
// CHECK-NEXT: %[[Y:.*]] = memref.alloc()
// CHECK-NEXT: linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @who_reads_a_copy_reads_its_source(%x: memref<4xf32>) -> memref<4xf32> {
  %one = memref.alloc() : memref<4xf32>
  memref.copy %x, %one : memref<4xf32> to memref<4xf32>
  %two = memref.alloc() : memref<4xf32>
  memref.copy %one, %two : memref<4xf32> to memref<4xf32>
  %y = memref.alloc() : memref<4xf32>
  linalg.exp ins(%two : memref<4xf32>) outs(%y : memref<4xf32>)
  return %y : memref<4xf32>
}

// -----

// Views of the copy are views of the part that it is a copy of.
// CHECK-LABEL: func.func @views_move_along(
// CHECK-SAME: %[[X:.*]]: memref<6x2xf32>) -> memref<2xf32> {
// CHECK: %[[PART:.*]] = memref.subview %[[X]][2, 0] [4, 2] [1, 1] : memref<6x2xf32> to memref<4x2xf32, strided<[2, 1], offset: 4>>
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[PART]] {{.*}} : memref<4x2xf32, strided<[2, 1], offset: 4>> into memref<8xf32, strided<[1], offset: 4>>
// CHECK: %[[TWO:.*]] = memref.subview %[[FLAT]][3] [2] [1] : memref<8xf32, strided<[1], offset: 4>> to memref<2xf32, strided<[1], offset: 7>>
// CHECK: linalg.exp ins(%[[TWO]] : memref<2xf32, strided<[1], offset: 7>>)
// CHECK-NOT: memref.copy
func.func @views_move_along(%x: memref<6x2xf32>) -> memref<2xf32> {
  %part = memref.subview %x[2, 0] [4, 2] [1, 1] : memref<6x2xf32> to memref<4x2xf32, strided<[2, 1], offset: 4>>
  %copy = memref.alloc() : memref<4x2xf32>
  memref.copy %part, %copy : memref<4x2xf32, strided<[2, 1], offset: 4>> to memref<4x2xf32>
  %flat = memref.collapse_shape %copy [[0, 1]] : memref<4x2xf32> into memref<8xf32>
  %two = memref.subview %flat[3] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: 3>>
  %y = memref.alloc() : memref<2xf32>
  linalg.exp ins(%two : memref<2xf32, strided<[1], offset: 3>>) outs(%y : memref<2xf32>)
  return %y : memref<2xf32>
}

// -----

// CHECK-LABEL: func.func @rows_that_are_not_together_are_not_flattened(
// CHECK: memref.copy
func.func @rows_that_are_not_together_are_not_flattened(%x: memref<4x4xf32>) -> memref<8xf32> {
  %part = memref.subview %x[0, 0] [4, 2] [1, 1] : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1]>>
  %copy = memref.alloc() : memref<4x2xf32>
  memref.copy %part, %copy : memref<4x2xf32, strided<[4, 1]>> to memref<4x2xf32>
  %flat = memref.collapse_shape %copy [[0, 1]] : memref<4x2xf32> into memref<8xf32>
  %y = memref.alloc() : memref<8xf32>
  linalg.exp ins(%flat : memref<8xf32>) outs(%y : memref<8xf32>)
  return %y : memref<8xf32>
}

// -----

// The source is written before the copy is read the last time: in the same op, in a view, or in a loop.
// CHECK-LABEL: func.func @a_source_that_changes_is_copied(
// CHECK-COUNT-3: memref.copy
// CHECK-NOT: memref.copy
func.func @a_source_that_changes_is_copied(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  linalg.add ins(%a, %a : memref<4xf32>, memref<4xf32>) outs(%x : memref<4xf32>)
  %b = memref.alloc() : memref<4xf32>
  memref.copy %y, %b : memref<4xf32> to memref<4xf32>
  %part = memref.subview %y[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  %c = arith.constant 1.0 : f32
  linalg.fill ins(%c : f32) outs(%part : memref<2xf32, strided<[1]>>)
  linalg.exp ins(%b : memref<4xf32>) outs(%x : memref<4xf32>)
  %d = memref.alloc() : memref<4xf32>
  memref.copy %z, %d : memref<4xf32> to memref<4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%carried = %z) -> (memref<4xf32>) {
    linalg.add ins(%d, %d : memref<4xf32>, memref<4xf32>) outs(%carried : memref<4xf32>)
    scf.yield %carried : memref<4xf32>
  }
  return
}

// -----

// What is returned, carried by a loop or written to is memory of its own. A gather counts elements of the copy.
// CHECK-LABEL: func.func @memory_of_its_own_stays(
// CHECK-COUNT-4: memref.copy
// CHECK-NOT: memref.copy
func.func @memory_of_its_own_stays(%x: memref<4xf32>, %wide: memref<4x2xf32>, %n: index) -> (memref<4xf32>, memref<4xf32>, f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 1.0 : f32
  %returned = memref.alloc() : memref<4xf32>
  memref.copy %x, %returned : memref<4xf32> to memref<4xf32>
  %carried = memref.alloc() : memref<4xf32>
  memref.copy %x, %carried : memref<4xf32> to memref<4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %carried) -> (memref<4xf32>) {
    scf.yield %a : memref<4xf32>
  }
  %written = memref.alloc() : memref<4xf32>
  memref.copy %x, %written : memref<4xf32> to memref<4xf32>
  linalg.fill ins(%c : f32) outs(%written : memref<4xf32>)
  %column = memref.subview %wide[0, 1] [4, 1] [1, 1] : memref<4x2xf32> to memref<4xf32, strided<[2], offset: 1>>
  %gathered = memref.alloc() : memref<4xf32>
  memref.copy %column, %gathered : memref<4xf32, strided<[2], offset: 1>> to memref<4xf32>
  %e = memref.load %gathered[%n] : memref<4xf32>
  return %returned, %r, %e : memref<4xf32>, memref<4xf32>, f32
}

// -----

// Sizes and layouts that are not numbers are let alone.
// CHECK-LABEL: func.func @sizes_that_are_not_known(
// CHECK-COUNT-4: memref.copy
func.func @sizes_that_are_not_known(%x: memref<?x4xf32>, %m: memref<4x4xf32, affine_map<(i, j) -> (j, i mod 3)>>,
    %u: memref<*xf32>, %v: memref<4x4xf32, strided<[?, 1], offset: ?>>, %n: index, %y: memref<4x4xf32>) {
  %a = memref.alloc(%n) : memref<?x4xf32>
  memref.copy %x, %a : memref<?x4xf32> to memref<?x4xf32>
  %b = memref.alloc() : memref<4x4xf32>
  memref.copy %m, %b : memref<4x4xf32, affine_map<(i, j) -> (j, i mod 3)>> to memref<4x4xf32>
  %c = memref.alloc() : memref<4x4xf32>
  memref.copy %v, %c : memref<4x4xf32, strided<[?, 1], offset: ?>> to memref<4x4xf32>
  %d = memref.alloc() : memref<4x4xf32>
  memref.copy %u, %d : memref<*xf32> to memref<4x4xf32>
  linalg.add ins(%b, %c : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  linalg.add ins(%d, %c : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  return
}

// -----

// A block may have got any buffer from the blocks before it.
// CHECK-LABEL: func.func @blocks(
// CHECK: memref.copy
func.func @blocks(%x: memref<4xf32>, %y: memref<4xf32>, %c: f32) {
  cf.br ^next(%x : memref<4xf32>)
^next(%z: memref<4xf32>):
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  linalg.fill ins(%c : f32) outs(%z : memref<4xf32>)
  linalg.exp ins(%a : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
