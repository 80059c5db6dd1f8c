// RUN: ipu-opt %s --ipu-build-in-place --split-input-file | filecheck %s

// CHECK-LABEL: func.func @rows_inside_of_a_padding(
// CHECK-SAME: %[[X:.*]]: memref<4x6xf32>)
// CHECK: %[[B:.*]] = memref.alloc() : memref<6x8xf32>
// CHECK: %[[A:.*]] = memref.subview %[[B]][0, 1] [6, 6]
// CHECK: linalg.fill ins({{.*}}) outs(%[[B]]
// CHECK: %[[ONE:.*]] = memref.subview %[[A]][0, 0] [4, 6] [1, 1] {{.*}} to memref<4x6xf32, strided<[8, 1], offset: 1>>
// CHECK: memref.copy %[[X]], %[[ONE]]
// CHECK: %[[TWO:.*]] = memref.subview %[[A]][4, 0] [2, 6] [1, 1] {{.*}} to memref<2x6xf32, strided<[8, 1], offset: 33>>
// CHECK: linalg.exp {{.*}} outs(%[[TWO]]
// CHECK-NEXT: return %[[B]]
func.func @rows_inside_of_a_padding(%x: memref<4x6xf32>) -> memref<6x8xf32> {
  %a = memref.alloc() : memref<6x6xf32>
  %one = memref.subview %a[0, 0] [4, 6] [1, 1] : memref<6x6xf32> to memref<4x6xf32, strided<[6, 1]>>
  memref.copy %x, %one : memref<4x6xf32> to memref<4x6xf32, strided<[6, 1]>>
  %two = memref.subview %a[4, 0] [2, 6] [1, 1] : memref<6x6xf32> to memref<2x6xf32, strided<[6, 1], offset: 24>>
  %from = memref.subview %x[1, 0] [2, 6] [1, 1] : memref<4x6xf32> to memref<2x6xf32, strided<[6, 1], offset: 6>>
  linalg.exp ins(%from : memref<2x6xf32, strided<[6, 1], offset: 6>>) outs(%two : memref<2x6xf32, strided<[6, 1], offset: 24>>)
  %b = memref.alloc() : memref<6x8xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%b : memref<6x8xf32>)
  %inside = memref.subview %b[0, 1] [6, 6] [1, 1] : memref<6x8xf32> to memref<6x6xf32, strided<[8, 1], offset: 1>>
  memref.copy %a, %inside : memref<6x6xf32> to memref<6x6xf32, strided<[8, 1], offset: 1>>
  return %b : memref<6x8xf32>
}

// -----

// Sums are made where numbers lie side by side, but anywhere if a part is rows of the whole.
// CHECK-LABEL: func.func @sums(
// CHECK: memref.copy %{{.*}}, %{{.*}} : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1]>>
// CHECK-NOT: memref.copy
func.func @sums(%x: memref<4x4xf32>) -> (memref<4x8xf32>, memref<8x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.matmul ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  %b = memref.alloc() : memref<4x8xf32>
  %left = memref.subview %b[0, 0] [4, 4] [1, 1] : memref<4x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  memref.copy %a, %left : memref<4x4xf32> to memref<4x4xf32, strided<[8, 1]>>
  %c = memref.alloc() : memref<4x4xf32>
  linalg.matmul ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  %d = memref.alloc() : memref<8x4xf32>
  %last = memref.subview %d[4, 0] [4, 4] [1, 1] : memref<8x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 16>>
  memref.copy %c, %last : memref<4x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 16>>
  return %b, %d : memref<4x8xf32>, memref<8x4xf32>
}

// -----

// One of the two changes while the other is in use, or it is the result of a function as well.
// CHECK-LABEL: func.func @two_memories(
// CHECK-COUNT-4: memref.copy
func.func @two_memories(%x: memref<4xf32>) -> (memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %b = memref.alloc() : memref<8xf32>
  %low = memref.subview %b[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  memref.copy %a, %low : memref<4xf32> to memref<4xf32, strided<[1]>>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  %d = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
  %e = memref.alloc() : memref<8xf32>
  %part = memref.subview %e[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  memref.copy %d, %part : memref<4xf32> to memref<4xf32, strided<[1], offset: 2>>
  %meets = memref.subview %e[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  linalg.exp ins(%d : memref<4xf32>) outs(%meets : memref<4xf32, strided<[1]>>)
  %f = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%f : memref<4xf32>)
  %g = memref.alloc() : memref<8xf32>
  linalg.exp ins(%e : memref<8xf32>) outs(%g : memref<8xf32>)
  %high = memref.subview %g[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.copy %f, %high : memref<4xf32> to memref<4xf32, strided<[1], offset: 4>>
  %h = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%h : memref<4xf32>)
  %end = memref.subview %g[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  memref.copy %h, %end : memref<4xf32> to memref<4xf32, strided<[1]>>
  return %b, %e, %g, %h : memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<4xf32>
}

// -----

// A part of fewer dimensions is read before what is copied there is made; so is what an op gives that may be the whole.
// CHECK-LABEL: func.func @read_before(
// CHECK-COUNT-4: memref.copy
func.func @read_before(%x: memref<4x2xf32>, %y: memref<4xf32>, %z: memref<8xf32>) -> (memref<4x2xf32>, memref<4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %b = memref.alloc() : memref<4x2xf32>
  linalg.exp ins(%x : memref<4x2xf32>) outs(%b : memref<4x2xf32>)
  %part = memref.subview %b[0, 1] [4, 1] [1, 1] : memref<4x2xf32> to memref<4xf32, strided<[2], offset: 1>>
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
  memref.copy %part, %y : memref<4xf32, strided<[2], offset: 1>> to memref<4xf32>
  memref.copy %a, %part : memref<4xf32> to memref<4xf32, strided<[2], offset: 1>>
  %c = memref.alloc() : memref<4x2xf32>
  linalg.exp ins(%x : memref<4x2xf32>) outs(%c : memref<4x2xf32>)
  %flat = memref.collapse_shape %c [[0, 1]] : memref<4x2xf32> into memref<8xf32>
  %d = memref.alloc() : memref<4x1xf32>
  linalg.fill ins(%zero : f32) outs(%d : memref<4x1xf32>)
  memref.copy %flat, %z : memref<8xf32> to memref<8xf32>
  %column = memref.subview %c[0, 1] [4, 1] [1, 1] : memref<4x2xf32> to memref<4x1xf32, strided<[2, 1], offset: 1>>
  memref.copy %d, %column : memref<4x1xf32> to memref<4x1xf32, strided<[2, 1], offset: 1>>
  return %b, %c : memref<4x2xf32>, memref<4x2xf32>
}
