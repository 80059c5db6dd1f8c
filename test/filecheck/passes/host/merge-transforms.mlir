// RUN: ipu-opt %s --ipu-merge-transforms | filecheck %s

#swapped = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#turned = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#root = affine_map<(d0, d1, d2) -> (d1, d2)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
memref.global "private" constant @cosines : memref<4x4xf32> = dense<1.0>
memref.global "private" constant @sines : memref<4x4xf32> = dense<0.0>

// CHECK-LABEL: func.func @whole_rows
// CHECK: %[[FOUND:.*]] = memref.alloc() : memref<2x4x4x2xf32>
// CHECK: %[[X:.*]] = memref.collapse_shape
// CHECK: %[[OUT:.*]] = memref.collapse_shape %[[FOUND]]
// CHECK: linalg.generic {{.*}}library_call = "fft"} ins(%[[X]] : memref<2x16x2xf32>) outs(%[[OUT]] : memref<2x16x2xf32>)
// CHECK-NOT: linalg.generic
func.func @whole_rows(%x: memref<2x16x2xf32>) -> memref<2x16x2xf32> {
  %zero = arith.constant 0.0 : f32
  %cosines = memref.get_global @cosines : memref<4x4xf32>
  %sines = memref.get_global @sines : memref<4x4xf32>
  %matrices = memref.expand_shape %x [[0], [1, 2], [3]] output_shape [2, 4, 4, 2] : memref<2x16x2xf32> into memref<2x4x4x2xf32>
  %columns = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#swapped, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%matrices : memref<2x4x4x2xf32>) outs(%columns : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %down = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"}
      ins(%columns : memref<2x4x4x2xf32>) outs(%down : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %re = memref.subview %down[0, 0, 0, 0] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  %im = memref.subview %down[0, 0, 0, 1] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  %real = memref.alloc() : memref<2x4x4xf32>
  %imaginary = memref.alloc() : memref<2x4x4xf32>
  linalg.generic {indexing_maps = [#turned, #turned, #root, #root, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%re, %im, %cosines, %sines : memref<2x4x4xf32, strided<[32, 8, 2]>>, memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>,
          memref<4x4xf32>, memref<4x4xf32>) outs(%real, %imaginary : memref<2x4x4xf32>, memref<2x4x4xf32>) {
  ^bb0(%x0: f32, %y: f32, %c: f32, %s: f32, %o: f32, %p: f32):
    %xc = arith.mulf %x0, %c : f32
    %ys = arith.mulf %y, %s : f32
    %xs = arith.mulf %x0, %s : f32
    %yc = arith.mulf %y, %c : f32
    %u = arith.subf %xc, %ys : f32
    %v = arith.addf %xs, %yc : f32
    linalg.yield %u, %v : f32, f32
  }
  %pairs = memref.alloc() : memref<2x4x4x2xf32>
  %at0 = memref.subview %pairs[0, 0, 0, 0] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  memref.copy %real, %at0 : memref<2x4x4xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  %at1 = memref.subview %pairs[0, 0, 0, 1] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  memref.copy %imaginary, %at1 : memref<2x4x4xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  %across = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"}
      ins(%pairs : memref<2x4x4x2xf32>) outs(%across : memref<2x4x4x2xf32>) attrs = {ipu.second_half = "fft"} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %found = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#swapped, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%across : memref<2x4x4x2xf32>) outs(%found : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %rows = memref.collapse_shape %found [[0], [1, 2], [3]] : memref<2x4x4x2xf32> into memref<2x16x2xf32>
  return %rows : memref<2x16x2xf32>
}

// Of numbers without imaginary parts half of the results is enough.
// CHECK-LABEL: func.func @real_rows
// CHECK: %[[REAL:.*]] = memref.subview %{{.*}}[0, 0, 0] [2, 16, 1] [1, 1, 1] : {{.*}} to memref<2x16xf32, strided<[32, 2]>>
// CHECK: %[[HALF:.*]] = memref.subview %{{.*}}[0, 0, 0] [2, 9, 2] [1, 1, 1] : {{.*}} to memref<2x9x2xf32, strided<[32, 2, 1]>>
// CHECK: linalg.generic {{.*}}library_call = "rfft"} ins(%[[REAL]] : {{.*}}) outs(%[[HALF]] : {{.*}})
// CHECK-NOT: linalg.generic
func.func @real_rows(%x: memref<2x16x2xf32>) -> memref<2x9x2xf32, strided<[32, 2, 1]>> {
  %zero = arith.constant 0.0 : f32
  %cosines = memref.get_global @cosines : memref<4x4xf32>
  %sines = memref.get_global @sines : memref<4x4xf32>
  %matrices = memref.expand_shape %x [[0], [1, 2], [3]] output_shape [2, 4, 4, 2] : memref<2x16x2xf32> into memref<2x4x4x2xf32>
  %columns = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#swapped, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%matrices : memref<2x4x4x2xf32>) outs(%columns : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %down = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"}
      ins(%columns : memref<2x4x4x2xf32>) outs(%down : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %re = memref.subview %down[0, 0, 0, 0] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  %im = memref.subview %down[0, 0, 0, 1] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  %real = memref.alloc() : memref<2x4x4xf32>
  %imaginary = memref.alloc() : memref<2x4x4xf32>
  linalg.generic {indexing_maps = [#turned, #turned, #root, #root, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%re, %im, %cosines, %sines : memref<2x4x4xf32, strided<[32, 8, 2]>>, memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>,
          memref<4x4xf32>, memref<4x4xf32>) outs(%real, %imaginary : memref<2x4x4xf32>, memref<2x4x4xf32>) {
  ^bb0(%x0: f32, %y: f32, %c: f32, %s: f32, %o: f32, %p: f32):
    %xc = arith.mulf %x0, %c : f32
    %ys = arith.mulf %y, %s : f32
    %xs = arith.mulf %x0, %s : f32
    %yc = arith.mulf %y, %c : f32
    %u = arith.subf %xc, %ys : f32
    %v = arith.addf %xs, %yc : f32
    linalg.yield %u, %v : f32, f32
  }
  %pairs = memref.alloc() : memref<2x4x4x2xf32>
  %at0 = memref.subview %pairs[0, 0, 0, 0] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  memref.copy %real, %at0 : memref<2x4x4xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  %at1 = memref.subview %pairs[0, 0, 0, 1] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  memref.copy %imaginary, %at1 : memref<2x4x4xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  %across = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"}
      ins(%pairs : memref<2x4x4x2xf32>) outs(%across : memref<2x4x4x2xf32>) attrs = {ipu.second_half = "rfft"} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %found = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#swapped, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%across : memref<2x4x4x2xf32>) outs(%found : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %rows = memref.collapse_shape %found [[0], [1, 2], [3]] : memref<2x4x4x2xf32> into memref<2x16x2xf32>
  %half = memref.subview %rows[0, 0, 0] [2, 9, 2] [1, 1, 1] : memref<2x16x2xf32> to memref<2x9x2xf32, strided<[32, 2, 1]>>
  return %half : memref<2x9x2xf32, strided<[32, 2, 1]>>
}

// What is between the halves is a result, too.
// CHECK-LABEL: func.func @is_seen
// CHECK-COUNT-2: library_call = "fft"
func.func @is_seen(%x: memref<2x16x2xf32>) -> (memref<2x16x2xf32>, memref<2x4x4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %cosines = memref.get_global @cosines : memref<4x4xf32>
  %sines = memref.get_global @sines : memref<4x4xf32>
  %matrices = memref.expand_shape %x [[0], [1, 2], [3]] output_shape [2, 4, 4, 2] : memref<2x16x2xf32> into memref<2x4x4x2xf32>
  %columns = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#swapped, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%matrices : memref<2x4x4x2xf32>) outs(%columns : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %down = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"}
      ins(%columns : memref<2x4x4x2xf32>) outs(%down : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %re = memref.subview %down[0, 0, 0, 0] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  %im = memref.subview %down[0, 0, 0, 1] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  %real = memref.alloc() : memref<2x4x4xf32>
  %imaginary = memref.alloc() : memref<2x4x4xf32>
  linalg.generic {indexing_maps = [#turned, #turned, #root, #root, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%re, %im, %cosines, %sines : memref<2x4x4xf32, strided<[32, 8, 2]>>, memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>,
          memref<4x4xf32>, memref<4x4xf32>) outs(%real, %imaginary : memref<2x4x4xf32>, memref<2x4x4xf32>) {
  ^bb0(%x0: f32, %y: f32, %c: f32, %s: f32, %o: f32, %p: f32):
    %xc = arith.mulf %x0, %c : f32
    %ys = arith.mulf %y, %s : f32
    %xs = arith.mulf %x0, %s : f32
    %yc = arith.mulf %y, %c : f32
    %u = arith.subf %xc, %ys : f32
    %v = arith.addf %xs, %yc : f32
    linalg.yield %u, %v : f32, f32
  }
  %pairs = memref.alloc() : memref<2x4x4x2xf32>
  %at0 = memref.subview %pairs[0, 0, 0, 0] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  memref.copy %real, %at0 : memref<2x4x4xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  %at1 = memref.subview %pairs[0, 0, 0, 1] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  memref.copy %imaginary, %at1 : memref<2x4x4xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  %across = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"}
      ins(%pairs : memref<2x4x4x2xf32>) outs(%across : memref<2x4x4x2xf32>) attrs = {ipu.second_half = "fft"} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %found = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#swapped, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%across : memref<2x4x4x2xf32>) outs(%found : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %rows = memref.collapse_shape %found [[0], [1, 2], [3]] : memref<2x4x4x2xf32> into memref<2x16x2xf32>
  return %rows, %down : memref<2x16x2xf32>, memref<2x4x4x2xf32>
}

// The rows are others by then.
// CHECK-LABEL: func.func @is_written
// CHECK-COUNT-2: library_call = "fft"
func.func @is_written(%x: memref<2x16x2xf32>) -> memref<2x16x2xf32> {
  %zero = arith.constant 0.0 : f32
  %cosines = memref.get_global @cosines : memref<4x4xf32>
  %sines = memref.get_global @sines : memref<4x4xf32>
  %matrices = memref.expand_shape %x [[0], [1, 2], [3]] output_shape [2, 4, 4, 2] : memref<2x16x2xf32> into memref<2x4x4x2xf32>
  %columns = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#swapped, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%matrices : memref<2x4x4x2xf32>) outs(%columns : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %down = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"}
      ins(%columns : memref<2x4x4x2xf32>) outs(%down : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %re = memref.subview %down[0, 0, 0, 0] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  %im = memref.subview %down[0, 0, 0, 1] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  %real = memref.alloc() : memref<2x4x4xf32>
  %imaginary = memref.alloc() : memref<2x4x4xf32>
  linalg.generic {indexing_maps = [#turned, #turned, #root, #root, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%re, %im, %cosines, %sines : memref<2x4x4xf32, strided<[32, 8, 2]>>, memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>,
          memref<4x4xf32>, memref<4x4xf32>) outs(%real, %imaginary : memref<2x4x4xf32>, memref<2x4x4xf32>) {
  ^bb0(%x0: f32, %y: f32, %c: f32, %s: f32, %o: f32, %p: f32):
    %xc = arith.mulf %x0, %c : f32
    %ys = arith.mulf %y, %s : f32
    %xs = arith.mulf %x0, %s : f32
    %yc = arith.mulf %y, %c : f32
    %u = arith.subf %xc, %ys : f32
    %v = arith.addf %xs, %yc : f32
    linalg.yield %u, %v : f32, f32
  }
  %pairs = memref.alloc() : memref<2x4x4x2xf32>
  %at0 = memref.subview %pairs[0, 0, 0, 0] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  memref.copy %real, %at0 : memref<2x4x4xf32> to memref<2x4x4xf32, strided<[32, 8, 2]>>
  %at1 = memref.subview %pairs[0, 0, 0, 1] [2, 4, 4, 1] [1, 1, 1, 1] : memref<2x4x4x2xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  memref.copy %imaginary, %at1 : memref<2x4x4xf32> to memref<2x4x4xf32, strided<[32, 8, 2], offset: 1>>
  %across = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "fft"}
      ins(%pairs : memref<2x4x4x2xf32>) outs(%across : memref<2x4x4x2xf32>) attrs = {ipu.second_half = "fft"} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  linalg.fill ins(%zero : f32) outs(%x : memref<2x16x2xf32>)
  %found = memref.alloc() : memref<2x4x4x2xf32>
  linalg.generic {indexing_maps = [#swapped, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%across : memref<2x4x4x2xf32>) outs(%found : memref<2x4x4x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %rows = memref.collapse_shape %found [[0], [1, 2], [3]] : memref<2x4x4x2xf32> into memref<2x16x2xf32>
  return %rows : memref<2x16x2xf32>
}

#real_rows = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#real_stacks = affine_map<(s, i, k, j, l) -> (s, i, k)>
#half_stacks = affine_map<(s, i, k, j, l) -> (s, i, j, l)>
#half_rows = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>

// Real numbers are read where they are, not beside zeros.
// CHECK-LABEL: func.func @reals_are_read
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<2x16xf32>
// CHECK-NOT: linalg.fill
// CHECK: %[[ROWS:.*]] = memref.collapse_shape %[[X]]
// CHECK: library_call = "rfft"} ins(%[[ROWS]] : memref<2x16xf32>)
func.func @reals_are_read(%x: memref<2x16xf32>) -> memref<2x9x2xf32> {
  %zero = arith.constant 0.0 : f32
  %pairs = memref.alloc() : memref<2x16x2xf32>
  linalg.fill ins(%zero : f32) outs(%pairs : memref<2x16x2xf32>)
  %at = memref.subview %pairs[0, 0, 0] [2, 16, 1] [1, 1, 1] : memref<2x16x2xf32> to memref<2x16xf32, strided<[32, 2]>>
  memref.copy %x, %at : memref<2x16xf32> to memref<2x16xf32, strided<[32, 2]>>
  %out = memref.alloc() : memref<2x9x2xf32>
  linalg.generic {indexing_maps = [#real_rows, #half_rows], iterator_types = ["parallel", "reduction", "reduction", "reduction"], library_call = "rfft"}
      ins(%at : memref<2x16xf32, strided<[32, 2]>>) outs(%out : memref<2x9x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  return %out : memref<2x9x2xf32>
}

// Real results take half of the numbers: those that stand for two are halved, and go to where they are copied.
// CHECK-LABEL: func.func @reals_are_given
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<2x9x2xf32>
// CHECK-NOT: linalg.fill
// CHECK: arith.constant 5.000000e-01
// CHECK: library_call = "irfft"} ins(%{{.*}} : memref<2x9x2xf32>) outs(%{{.*}} : memref<2x16xf32>)
// CHECK-NOT: memref.copy
// CHECK: return
func.func @reals_are_given(%x: memref<2x9x2xf32>) -> memref<2x16xf32> {
  %zero = arith.constant 0.0 : f32
  %pairs = memref.alloc() : memref<2x16x2xf32>
  linalg.fill ins(%zero : f32) outs(%pairs : memref<2x16x2xf32>)
  %at = memref.subview %pairs[0, 0, 0] [2, 9, 2] [1, 1, 1] : memref<2x16x2xf32> to memref<2x9x2xf32, strided<[32, 2, 1]>>
  memref.copy %x, %at : memref<2x9x2xf32> to memref<2x9x2xf32, strided<[32, 2, 1]>>
  %out = memref.alloc() : memref<2x16x2xf32>
  linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "reduction", "reduction"], library_call = "ifft"}
      ins(%pairs : memref<2x16x2xf32>) outs(%out : memref<2x16x2xf32>) attrs = {ipu.second_half = "irfft"} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %reals = memref.subview %out[0, 0, 0] [2, 16, 1] [1, 1, 1] : memref<2x16x2xf32> to memref<2x16xf32, strided<[32, 2]>>
  %found = memref.alloc() : memref<2x16xf32>
  memref.copy %reals, %found : memref<2x16xf32, strided<[32, 2]>> to memref<2x16xf32>
  return %found : memref<2x16xf32>
}

// Stacks of rows, which no pass has cut, keep their zeros.
// CHECK-LABEL: func.func @stacks
// CHECK: library_call = "ifft"} ins(%{{.*}} : memref<3x2x16x2xf32>)
// CHECK: library_call = "rfft"} ins(%{{.*}} : memref<3x2x16xf32, strided<[64, 32, 2]>>)
func.func @stacks(%x: memref<3x2x9x2xf32>, %y: memref<3x2x16xf32>) -> (memref<3x2x16x2xf32>, memref<3x2x9x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %pairs = memref.alloc() : memref<3x2x16x2xf32>
  linalg.fill ins(%zero : f32) outs(%pairs : memref<3x2x16x2xf32>)
  %at = memref.subview %pairs[0, 0, 0, 0] [3, 2, 9, 2] [1, 1, 1, 1] : memref<3x2x16x2xf32> to memref<3x2x9x2xf32, strided<[64, 32, 2, 1]>>
  memref.copy %x, %at : memref<3x2x9x2xf32> to memref<3x2x9x2xf32, strided<[64, 32, 2, 1]>>
  %out = memref.alloc() : memref<3x2x16x2xf32>
  linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "ifft"}
      ins(%pairs : memref<3x2x16x2xf32>) outs(%out : memref<3x2x16x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  %others = memref.alloc() : memref<3x2x16x2xf32>
  linalg.fill ins(%zero : f32) outs(%others : memref<3x2x16x2xf32>)
  %reals = memref.subview %others[0, 0, 0, 0] [3, 2, 16, 1] [1, 1, 1, 1] : memref<3x2x16x2xf32> to memref<3x2x16xf32, strided<[64, 32, 2]>>
  memref.copy %y, %reals : memref<3x2x16xf32> to memref<3x2x16xf32, strided<[64, 32, 2]>>
  %halves = memref.alloc() : memref<3x2x9x2xf32>
  linalg.generic {indexing_maps = [#real_stacks, #half_stacks], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"], library_call = "rfft"}
      ins(%reals : memref<3x2x16xf32, strided<[64, 32, 2]>>) outs(%halves : memref<3x2x9x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  }
  return %out, %halves : memref<3x2x16x2xf32>, memref<3x2x9x2xf32>
}
