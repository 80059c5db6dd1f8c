// RUN: ipu-opt %s --ipu-cut-copies --ipu-form-supersteps | filecheck %s

#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#point = #ipu.mapping<1, [], 0, 0>

// CHECK-DAG: #[[HOME:m[0-9]+]] = #ipu.mapping<4, {{\[}}[2, 4, 1, 1]], 0, 0>
// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[2, 4, 1]], 0>

// CHECK-LABEL: func.func @structured_op_becomes_vertices
// CHECK: "ipu.compute_set"() ({
// CHECK-NEXT: "ipu.vertices"() ({
// CHECK-NEXT: linalg.exp
// CHECK-NOT: ipu.parts =
// CHECK-NEXT: }) {codelet = "exp_f32", parts = #[[PARTS]]} : () -> ()
func.func @structured_op_becomes_vertices(%x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  linalg.exp {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #home>)
  return
}

// CHECK-LABEL: func.func @copy_to_another_mapping_becomes_an_exchange
// CHECK-SAME: (%[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: memref
// CHECK-NEXT: "ipu.exchange"(%[[X]], %[[Y]])
// CHECK-NEXT: "ipu.exchange"(%[[Y]], %[[X]])
// CHECK-NEXT: return
func.func @copy_to_another_mapping_becomes_an_exchange(%x: memref<4xf32, #home>, %y: memref<4xf32, #one>) {
  linalg.copy ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #one>)
  memref.copy %y, %x : memref<4xf32, #one> to memref<4xf32, #home>
  return
}

// CHECK-LABEL: func.func @copy_to_another_view_becomes_an_exchange
// CHECK: "ipu.exchange"
// CHECK-NOT: ipu.compute_set
func.func @copy_to_another_view_becomes_an_exchange(%x: memref<4xf32, #home>) {
  %a = memref.subview %x[0] [2] [1] : memref<4xf32, #home> to memref<2xf32, strided<[1]>, #home>
  %b = memref.subview %x[2] [2] [1] : memref<4xf32, #home> to memref<2xf32, strided<[1], offset: 2>, #home>
  memref.copy %a, %b : memref<2xf32, strided<[1]>, #home> to memref<2xf32, strided<[1], offset: 2>, #home>
  return
}

// CHECK-LABEL: func.func @copy_in_one_mapping_runs_on_its_tiles
// CHECK-NOT: ipu.exchange
// CHECK: "ipu.vertices"() ({
// CHECK-NEXT: linalg.copy
// CHECK-NEXT: }) {codelet = "copy_f32", parts = #[[PARTS]]}
func.func @copy_in_one_mapping_runs_on_its_tiles(%x: memref<4xf32, #home>, %y: memref<4xf32, #home>) {
  memref.copy %x, %y : memref<4xf32, #home> to memref<4xf32, #home>
  return
}

// Three elements a tile are no cut of rows of two: no vertex could copy them by loops over both dimensions.
// CHECK-LABEL: func.func @copy_along_no_dimension_becomes_an_exchange
// CHECK: "ipu.exchange"
// CHECK-NOT: ipu.compute_set
#threes = #ipu.mapping<4, [[3, 4, 1, 1]], 0, 0>
func.func @copy_along_no_dimension_becomes_an_exchange(%x: memref<2x2xf32, #threes>, %y: memref<2x2xf32, #threes>) {
  memref.copy %x, %y : memref<2x2xf32, #threes> to memref<2x2xf32, #threes>
  return
}

// CHECK-LABEL: func.func @codelet_says_what_runs_on_which_type
// CHECK: codelet = "fill_i32"
// CHECK: codelet = "add_f32"
// CHECK: codelet = "mulf_f32"
// CHECK: codelet = "reduce_f32"
// CHECK: codelet = "cmpf_i1"
func.func @codelet_says_what_runs_on_which_type(%c: i32, %i: memref<4xi32, #home>, %x: memref<4xf32, #home>,
    %y: memref<4xf32, #home>, %w: memref<4xf32, #one>, %s: memref<f32, #point>, %b: memref<4xi1, #home>) {
  linalg.fill {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>} ins(%c : i32) outs(%i : memref<4xi32, #home>)
  linalg.add {ipu.parts = #ipu.parts<[[2, 4, 1]], 0>}
      ins(%x, %x : memref<4xf32, #home>, memref<4xf32, #home>) outs(%y : memref<4xf32, #home>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"],
                  ipu.parts = #ipu.parts<[[2, 4, 1]], 0>} ins(%x : memref<4xf32, #home>) outs(%y : memref<4xf32, #home>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"],
                  ipu.parts = #ipu.parts<[[4, 4, 0]], 0>} ins(%w : memref<4xf32, #one>) outs(%s : memref<f32, #point>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %o : f32
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"],
                  ipu.parts = #ipu.parts<[[2, 4, 1]], 0>} ins(%x : memref<4xf32, #home>) outs(%b : memref<4xi1, #home>) {
  ^bb0(%a: f32, %o: i1):
    %p = arith.cmpf olt, %a, %a : f32
    linalg.yield %p : i1
  }
  return
}
