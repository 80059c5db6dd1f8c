// RUN: ipu-opt %s --ipu-partition --split-input-file | filecheck %s

// Two tiles for each half of the rows: partial results, and the op that adds them up to what was there before. Both
// are marked with the loop and its blocks.
// CHECK-DAG: #[[BLOCKS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 5, d0, d1)>
// CHECK-DAG: #[[PARTS:p[0-9]+]] = #ipu.parts<{{\[}}[4, 8, 3], [16, 16, 0], [5, 13, 1]], 0>
// CHECK-DAG: #[[FILL:p[0-9]+]] = #ipu.parts<{{\[}}[1, 3, 1], [4, 8, 3], [16, 16, 0]], 0>
// CHECK-LABEL: func.func @a_reduction_that_parts_cut_is_split
// CHECK-SAME: %[[INIT:[a-z0-9]+]]: tensor<8x16xf32> {ipu.map = #{{m[0-9]+}}})
// CHECK: %[[ZERO:.*]] = arith.constant -0.0
// CHECK: %[[FILLED:.*]] = linalg.fill {{{.*}}ipu.parts = #[[FILL]]} ins(%[[ZERO]]
// CHECK: %[[PARTIAL:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[BLOCKS]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: outs(%[[FILLED]] : tensor<3x8x16xf32>) attrs = {{{.*}}ipu.partials = array<i64: 2, 5>, ipu.parts = #[[PARTS]]}
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[PARTIAL]] : tensor<3x8x16xf32>) outs(%[[INIT]] : tensor<8x16xf32>) attrs = {ipu.combines = array<i64: 2, 5>
// CHECK: arith.addf
// CHECK: return %[[SUM]]
#parts = #ipu.parts<[[4, 8, 3], [16, 16, 0], [5, 13, 1]], 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 16}>} {
func.func @a_reduction_that_parts_cut_is_split(%x: tensor<8x13xf32>, %w: tensor<13x16xf32>, %init: tensor<8x16xf32>)
    -> tensor<8x16xf32> {
  %y = linalg.matmul {ipu.parts = #parts} ins(%x, %w : tensor<8x13xf32>, tensor<13x16xf32>)
    outs(%init : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
}

// -----

// A block of one iteration is nothing that has to be reduced. The largest starts from what is smaller than all.
// CHECK-LABEL: func.func @a_block_of_one_is_not_reduced
// CHECK: arith.constant 0xFF800000
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins(%{{.*}} : tensor<3x8xf32>)
// CHECK: arith.maximumf
#parts = #ipu.parts<[[8, 8, 0], [1, 3, 1], [5, 5, 0]], 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 16}>} {
func.func @a_block_of_one_is_not_reduced(%x: tensor<8x3x5xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.reduce {arith.maximumf} ins(%x : tensor<8x3x5xf32>) outs(%init : tensor<8xf32>) dimensions = [1, 2]
    {ipu.parts = #parts}
  return %y : tensor<8xf32>
}
}

// -----

// Few rows and a long sum: the planner splits it by itself.
// CHECK-LABEL: func.func @the_planner_splits_a_long_sum
// CHECK: linalg.generic
// CHECK-SAME: tensor<4096xf32>) outs(%{{.*}} : tensor<[[N:[0-9]+]]xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<[[N]]xf32>) outs(%{{.*}} : tensor<f32>)
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 16}>} {
func.func @the_planner_splits_a_long_sum(%x: tensor<4096xf32>) -> tensor<f32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.reduce {arith.addf} ins(%x : tensor<4096xf32>) outs(%z : tensor<f32>) dimensions = [0]
  return %y : tensor<f32>
}
}

// -----

// Elements that are subtracted from a total: partial results are subtracted from nothing, and added to it.
// CHECK-LABEL: func.func @what_is_subtracted_is_split_as_well
// CHECK: %[[ZERO:.*]] = arith.constant -0.0
// CHECK: %[[FILLED:.*]] = linalg.fill {{{.*}}} ins(%[[ZERO]]
// CHECK: %[[PARTIAL:.*]] = linalg.generic
// CHECK-SAME: outs(%[[FILLED]] : tensor<4x8xf32>) attrs = {{{.*}}ipu.partials = array<i64: 1, 16>
// CHECK: arith.subf %{{.*}}out, %{{.*}}in
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[PARTIAL]] : tensor<4x8xf32>) outs(%arg1 : tensor<8xf32>) attrs = {ipu.combines = array<i64: 1, 16>
// CHECK: arith.addf
#parts = #ipu.parts<[[8, 8, 0], [16, 64, 1]], 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 16}>} {
func.func @what_is_subtracted_is_split_as_well(%x: tensor<64x8xf32>, %total: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>],
    iterator_types = ["parallel", "reduction"], ipu.parts = #parts} ins(%x : tensor<64x8xf32>)
    outs(%total : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
}
