// RUN: ipu-opt %s --ipu-merge-sorts | filecheck %s

#id = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>

// Rows that are sorted, and then merged, are one row.
// CHECK-LABEL: func.func @two_steps
// CHECK: library_call = "sort_tuples"} ins(%{{.*}} : memref<1x1x1x1x1x8xi32>) outs(%{{.*}} : memref<1x1x1x1x1x8xi32>)
// CHECK-NOT: sort_tuples
// CHECK: return
func.func @two_steps(%x: memref<2x1x1x1x1x4xi32>) -> memref<1x1x1x2x1x4xi32> {
  %zero = arith.constant 0 : i32
  %rows = memref.alloc() : memref<2x1x1x1x1x4xi32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel", "reduction"], library_call = "sort_tuples"}
      ins(%x : memref<2x1x1x1x1x4xi32>) outs(%rows : memref<2x1x1x1x1x4xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  %flat = memref.collapse_shape %rows [[0, 1, 2, 3, 4, 5]] : memref<2x1x1x1x1x4xi32> into memref<8xi32>
  %pairs = memref.expand_shape %flat [[0, 1, 2, 3, 4, 5]] output_shape [1, 1, 1, 2, 1, 4] : memref<8xi32> into memref<1x1x1x2x1x4xi32>
  %out = memref.alloc() : memref<1x1x1x2x1x4xi32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel", "reduction"], library_call = "sort_tuples"}
      ins(%pairs : memref<1x1x1x2x1x4xi32>) outs(%out : memref<1x1x1x2x1x4xi32>) {
  ^bb0(%in: i32, %o: i32):
    linalg.yield %zero : i32
  }
  return %out : memref<1x1x1x2x1x4xi32>
}

// Rows that are returned as well stay rows.
// CHECK-LABEL: func.func @rows_are_read
// CHECK: ins(%{{.*}} : memref<2x1x1x1x1x4xi32>)
// CHECK: ins(%{{.*}} : memref<1x1x1x2x1x4xi32>)
func.func @rows_are_read(%x: memref<2x1x1x1x1x4xi32>) -> (memref<2x1x1x1x1x4xi32>, memref<1x1x1x2x1x4xi32>) {
  %zero = arith.constant 0 : i32
  %rows = memref.alloc() : memref<2x1x1x1x1x4xi32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel", "reduction"], library_call = "sort_tuples"}
      ins(%x : memref<2x1x1x1x1x4xi32>) outs(%rows : memref<2x1x1x1x1x4xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  %flat = memref.collapse_shape %rows [[0, 1, 2, 3, 4, 5]] : memref<2x1x1x1x1x4xi32> into memref<8xi32>
  %pairs = memref.expand_shape %flat [[0, 1, 2, 3, 4, 5]] output_shape [1, 1, 1, 2, 1, 4] : memref<8xi32> into memref<1x1x1x2x1x4xi32>
  %out = memref.alloc() : memref<1x1x1x2x1x4xi32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel", "reduction"], library_call = "sort_tuples"}
      ins(%pairs : memref<1x1x1x2x1x4xi32>) outs(%out : memref<1x1x1x2x1x4xi32>) {
  ^bb0(%in: i32, %o: i32):
    linalg.yield %zero : i32
  }
  return %rows, %out : memref<2x1x1x1x1x4xi32>, memref<1x1x1x2x1x4xi32>
}

// What is sorted changes before the last step: the first one has to run before that.
// CHECK-LABEL: func.func @source_changes
// CHECK: ins(%{{.*}} : memref<2x1x1x1x1x4xi32>)
// CHECK: ins(%{{.*}} : memref<1x1x1x2x1x4xi32>)
func.func @source_changes(%x: memref<2x1x1x1x1x4xi32>) -> memref<1x1x1x2x1x4xi32> {
  %zero = arith.constant 0 : i32
  %rows = memref.alloc() : memref<2x1x1x1x1x4xi32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel", "reduction"], library_call = "sort_tuples"}
      ins(%x : memref<2x1x1x1x1x4xi32>) outs(%rows : memref<2x1x1x1x1x4xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  linalg.fill ins(%zero : i32) outs(%x : memref<2x1x1x1x1x4xi32>)
  %flat = memref.collapse_shape %rows [[0, 1, 2, 3, 4, 5]] : memref<2x1x1x1x1x4xi32> into memref<8xi32>
  %pairs = memref.expand_shape %flat [[0, 1, 2, 3, 4, 5]] output_shape [1, 1, 1, 2, 1, 4] : memref<8xi32> into memref<1x1x1x2x1x4xi32>
  %out = memref.alloc() : memref<1x1x1x2x1x4xi32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel", "reduction"], library_call = "sort_tuples"}
      ins(%pairs : memref<1x1x1x2x1x4xi32>) outs(%out : memref<1x1x1x2x1x4xi32>) {
  ^bb0(%in: i32, %o: i32):
    linalg.yield %zero : i32
  }
  return %out : memref<1x1x1x2x1x4xi32>
}
