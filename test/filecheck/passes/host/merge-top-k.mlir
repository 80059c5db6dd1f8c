// RUN: ipu-opt %s --ipu-merge-top-k | filecheck %s

#keys = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#found = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#best = affine_map<(d0, d1, d2) -> (d0, d2)>
#same = affine_map<(d0, d1) -> (d0, d1)>

// The largest of those of parts are the largest of rows, and their places those in rows.
// CHECK-LABEL: func.func @parts_of_rows
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<2x16xi32>
// CHECK: %[[PLACES:.*]] = memref.alloc() : memref<2x3xi32>
// CHECK-NEXT: linalg.generic
// CHECK-SAME: library_call = "top_k"} ins(%[[X]] : memref<2x16xi32>) outs(%[[PLACES]] : memref<2x3xi32>)
// CHECK-NOT: linalg.generic
// CHECK: return %[[PLACES]]
func.func @parts_of_rows(%x: memref<2x16xi32>) -> memref<2x3xi32> {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : index
  %keys = memref.expand_shape %x [[0], [1, 2]] output_shape [2, 4, 4] : memref<2x16xi32> into memref<2x4x4xi32>
  %inside = memref.alloc() : memref<2x4x3xi32>
  linalg.generic {indexing_maps = [#keys, #found], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "top_k"}
      ins(%keys : memref<2x4x4xi32>) outs(%inside : memref<2x4x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  %places = memref.alloc() : memref<2x4x3xi32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%inside : memref<2x4x3xi32>) outs(%inside, %places : memref<2x4x3xi32>, memref<2x4x3xi32>) {
  ^bb0(%in: i32, %out: i32, %p: i32):
    %row = linalg.index 0 : index
    %part = linalg.index 1 : index
    %at = arith.index_cast %in : i32 to index
    %begin = arith.muli %part, %four : index
    %sum = arith.addi %begin, %at : index
    %place = arith.index_cast %sum : index to i32
    %key = memref.load %keys[%row, %part, %at] : memref<2x4x4xi32>
    linalg.yield %key, %place : i32, i32
  }
  %best = memref.collapse_shape %inside [[0], [1, 2]] : memref<2x4x3xi32> into memref<2x12xi32>
  %where = memref.collapse_shape %places [[0], [1, 2]] : memref<2x4x3xi32> into memref<2x12xi32>
  %among = memref.alloc() : memref<2x3xi32>
  linalg.generic {indexing_maps = [#row, #best], iterator_types = ["parallel", "reduction", "reduction"], library_call = "top_k"}
      ins(%best : memref<2x12xi32>) outs(%among : memref<2x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%among : memref<2x3xi32>) outs(%among : memref<2x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    %row = linalg.index 0 : index
    %at = arith.index_cast %in : i32 to index
    %place = memref.load %where[%row, %at] : memref<2x12xi32>
    linalg.yield %place : i32
  }
  return %among : memref<2x3xi32>
}

// CHECK-LABEL: func.func @one_row
// CHECK: library_call = "top_k"} ins(%{{.*}} : memref<1x16xi32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @one_row(%x: memref<1x16xi32>) -> memref<1x3xi32> {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : index
  %four = arith.constant 4 : index
  %keys = memref.expand_shape %x [[0], [1, 2]] output_shape [1, 4, 4] : memref<1x16xi32> into memref<1x4x4xi32>
  %inside = memref.alloc() : memref<1x4x3xi32>
  linalg.generic {indexing_maps = [#keys, #found], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "top_k"}
      ins(%keys : memref<1x4x4xi32>) outs(%inside : memref<1x4x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  %places = memref.alloc() : memref<1x4x3xi32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%inside : memref<1x4x3xi32>) outs(%inside, %places : memref<1x4x3xi32>, memref<1x4x3xi32>) {
  ^bb0(%in: i32, %out: i32, %p: i32):
    %part = linalg.index 1 : index
    %at = arith.index_cast %in : i32 to index
    %begin = arith.muli %part, %four : index
    %sum = arith.addi %begin, %at : index
    %place = arith.index_cast %sum : index to i32
    %key = memref.load %keys[%none, %part, %at] : memref<1x4x4xi32>
    linalg.yield %key, %place : i32, i32
  }
  %best = memref.collapse_shape %inside [[0], [1, 2]] : memref<1x4x3xi32> into memref<1x12xi32>
  %where = memref.collapse_shape %places [[0], [1, 2]] : memref<1x4x3xi32> into memref<1x12xi32>
  %among = memref.alloc() : memref<1x3xi32>
  linalg.generic {indexing_maps = [#row, #best], iterator_types = ["parallel", "reduction", "reduction"], library_call = "top_k"}
      ins(%best : memref<1x12xi32>) outs(%among : memref<1x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%among : memref<1x3xi32>) outs(%among : memref<1x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    %at = arith.index_cast %in : i32 to index
    %place = memref.load %where[%none, %at] : memref<1x12xi32>
    linalg.yield %place : i32
  }
  return %among : memref<1x3xi32>
}

// Places that are returned as well are found in parts.
// CHECK-LABEL: func.func @places_are_read
// CHECK: library_call = "top_k"} ins(%{{.*}} : memref<2x4x4xi32>)
// CHECK: library_call = "top_k"} ins(%{{.*}} : memref<2x12xi32>)
func.func @places_are_read(%x: memref<2x16xi32>) -> (memref<2x3xi32>, memref<2x12xi32>) {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : index
  %keys = memref.expand_shape %x [[0], [1, 2]] output_shape [2, 4, 4] : memref<2x16xi32> into memref<2x4x4xi32>
  %inside = memref.alloc() : memref<2x4x3xi32>
  linalg.generic {indexing_maps = [#keys, #found], iterator_types = ["parallel", "parallel", "reduction", "reduction"], library_call = "top_k"}
      ins(%keys : memref<2x4x4xi32>) outs(%inside : memref<2x4x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  %places = memref.alloc() : memref<2x4x3xi32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%inside : memref<2x4x3xi32>) outs(%inside, %places : memref<2x4x3xi32>, memref<2x4x3xi32>) {
  ^bb0(%in: i32, %out: i32, %p: i32):
    %row = linalg.index 0 : index
    %part = linalg.index 1 : index
    %at = arith.index_cast %in : i32 to index
    %begin = arith.muli %part, %four : index
    %sum = arith.addi %begin, %at : index
    %place = arith.index_cast %sum : index to i32
    %key = memref.load %keys[%row, %part, %at] : memref<2x4x4xi32>
    linalg.yield %key, %place : i32, i32
  }
  %best = memref.collapse_shape %inside [[0], [1, 2]] : memref<2x4x3xi32> into memref<2x12xi32>
  %where = memref.collapse_shape %places [[0], [1, 2]] : memref<2x4x3xi32> into memref<2x12xi32>
  %among = memref.alloc() : memref<2x3xi32>
  linalg.generic {indexing_maps = [#row, #best], iterator_types = ["parallel", "reduction", "reduction"], library_call = "top_k"}
      ins(%best : memref<2x12xi32>) outs(%among : memref<2x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%among : memref<2x3xi32>) outs(%among : memref<2x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    %row = linalg.index 0 : index
    %at = arith.index_cast %in : i32 to index
    %place = memref.load %where[%row, %at] : memref<2x12xi32>
    linalg.yield %place : i32
  }
  return %among, %where : memref<2x3xi32>, memref<2x12xi32>
}
