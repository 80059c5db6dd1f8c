// RUN: ipu-opt %s | ipu-opt | filecheck %s

#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @named_op
// CHECK: "ipu.vertices"() ({
// CHECK-NEXT: linalg.add ins(%{{.*}}, %{{.*}} : memref<4xf32, #{{.*}}>, memref<4xf32, #{{.*}}>) outs(%{{.*}} : memref<4xf32, #{{.*}}>)
// CHECK-NEXT: }) {codelet = "add_f32", parts = #{{p[0-9]+}}} : () -> ()
func.func @named_op(%x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.add ins(%x, %x : memref<4xf32, #home>, memref<4xf32, #home>) outs(%y : memref<4xf32, #home>)
    }) {codelet = "add_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// CHECK-LABEL: func.func @generic_with_a_captured_scalar
// CHECK-SAME: %[[SCALE:[a-z0-9]+]]: f32)
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
func.func @generic_with_a_captured_scalar(%x: memref<4xf32, #home>, %y: memref<4xf32, #home>, %scale: f32) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #home>) {
      ^bb0(%a: f32, %b: f32):
        %p = arith.mulf %a, %scale : f32
        linalg.yield %p : f32
      }
    }) {codelet = "mulf_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> ()
  }) : () -> ()
  return
}

// A grid of 2 x 2 vertices: each row block of the left operand lies on the two tiles of its row, each column block of
// the right one on those of its column.
#left = #ipu.mapping<12, [[2, 4, 3, 2], [1, 2, 0, 1], [3, 3, 1, 0]], 0, 0>
#right = #ipu.mapping<12, [[1, 2, 0, 2], [2, 4, 1, 1], [3, 3, 4, 0]], 0, 0>
#grid = #ipu.mapping<16, [[2, 4, 4, 2], [2, 4, 1, 1]], 0, 0>

// CHECK-LABEL: func.func @operands_shared_by_rows_and_columns_of_tiles
// CHECK: linalg.matmul
func.func @operands_shared_by_rows_and_columns_of_tiles(
    %a: memref<4x3xf32, #left>, %b: memref<3x4xf32, #right>, %c: memref<4x4xf32, #grid>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.matmul ins(%a, %b : memref<4x3xf32, #left>, memref<3x4xf32, #right>) outs(%c : memref<4x4xf32, #grid>)
    }) {codelet = "matmul_f32", parts = #ipu.parts<[[2, 4, 2], [2, 4, 1], [3, 3, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// A window of 3 over 6 outputs: each tile also holds the two elements that it shares with the next.
#halo = #ipu.mapping<8, [[2, 6, 1, 1], [3, 3, 1, 0]], 0, 0>
#sums = #ipu.mapping<6, [[2, 6, 1, 1]], 0, 0>
#kernel = #ipu.mapping<3, [[1, 3, 0, 1], [3, 3, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @window_with_a_halo
// CHECK: linalg.conv_1d
func.func @window_with_a_halo(%x: memref<8xf32, #halo>, %k: memref<3xf32, #kernel>, %y: memref<6xf32, #sums>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.conv_1d ins(%x, %k : memref<8xf32, #halo>, memref<3xf32, #kernel>) outs(%y : memref<6xf32, #sums>)
    }) {codelet = "conv_1d_f32", parts = #ipu.parts<[[2, 6, 1], [3, 3, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// CHECK-LABEL: func.func @view_of_another_tile
// CHECK: linalg.fill
func.func @view_of_another_tile(%x: memref<4xf32, #home>, %c: f32) {
  %last = memref.subview %x[2] [2] [1] : memref<4xf32, #home> to memref<2xf32, strided<[1], offset: 2>, #home>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.fill ins(%c : f32) outs(%last : memref<2xf32, strided<[1], offset: 2>, #home>)
    }) {codelet = "fill_f32", parts = #ipu.parts<[[2, 2, 0]], 1>} : () -> ()
  }) : () -> ()
  return
}

#point = #ipu.mapping<1, [], 0, 2>

// CHECK-LABEL: func.func @no_loops
// CHECK: parts = #{{p[0-9]+}}
func.func @no_loops(%x: memref<f32, #point>, %y: memref<f32, #point>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.exp ins(%x : memref<f32, #point>) outs(%y : memref<f32, #point>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[], 2>} : () -> ()
  }) : () -> ()
  return
}

#whole = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// CHECK-LABEL: func.func @library_codelet
// CHECK: library_call = "sort"
func.func @library_codelet(%x: memref<4xf32, #whole>, %y: memref<4xf32, #whole>) {
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["reduction", "reduction"], library_call = "sort"}
          ins(%x : memref<4xf32, #whole>) outs(%y : memref<4xf32, #whole>) {
      ^bb0(%a: f32, %b: f32):
        linalg.yield %a : f32
      }
    }) {codelet = "sort_f32", parts = #ipu.parts<[[4, 4, 0], [4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}
