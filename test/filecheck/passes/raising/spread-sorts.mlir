// RUN: ipu-opt %s --ipu-spread-sorts=shortest=1000 --canonicalize | filecheck %s
// RUN: ipu-opt %s --ipu-spread-sorts=shortest=1001 | filecheck %s --check-prefix=SHORT

#id = affine_map<(d0) -> (d0)>
#keys = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#places = affine_map<(d0, d1, d2, d3) -> (d1)>
#ranks = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#updates = affine_map<(d0, d1) -> (d0)>
#guard = affine_map<(d0, d1) -> (0)>
#own = affine_map<(d0, d1) -> (d1)>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=4}>} {
// SHORT-COUNT-4: library_call = "rank"
// SHORT-NOT: sort_tuples

// What is put where the ranks say is sorted with the keys: in 8 rows, two for each tile, of 8 parts that are merged first;
// what is added to fill the rows is not returned.
// CHECK-LABEL: func.func @sorted
// CHECK-SAME: (%[[KEYS:.*]]: tensor<1000xi32>, %[[X:.*]]: tensor<1000xf32>)
// CHECK-NOT: "rank"
// CHECK-COUNT-10: library_call = "sort_tuples"
// CHECK-NOT: scatter_set
// CHECK: return
func.func @sorted(%keys: tensor<1000xi32>, %x: tensor<1000xf32>) -> tensor<1000xf32> {
  %true = arith.constant true
  %iota_empty = tensor.empty() : tensor<1000xindex>
  %iota = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%iota_empty : tensor<1000xindex>) {
  ^bb0(%out: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<1000xindex>
  %guard_empty = tensor.empty() : tensor<1xi1>
  %guard = linalg.fill ins(%true : i1) outs(%guard_empty : tensor<1xi1>) -> tensor<1xi1>
  %rows = tensor.expand_shape %keys [[0, 1, 2]] output_shape [1, 1000, 1] : tensor<1000xi32> into tensor<1x1000x1xi32>
  %ranks_empty = tensor.empty() : tensor<1x1000x1xindex>
  %ranks = linalg.generic {indexing_maps = [#keys, #places, #ranks], iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"}
      ins(%rows, %iota : tensor<1x1000x1xi32>, tensor<1000xindex>) outs(%ranks_empty : tensor<1x1000x1xindex>) {
  ^bb0(%in: i32, %at: index, %out: index):
    linalg.yield %at : index
  } -> tensor<1x1000x1xindex>
  %at = tensor.collapse_shape %ranks [[0, 1, 2]] : tensor<1x1000x1xindex> into tensor<1000xindex>
  %empty = tensor.empty() : tensor<1000xf32>
  %y = linalg.generic {indexing_maps = [#updates, #guard, #updates, #own, #own], iterator_types = ["reduction", "parallel"], library_call = "scatter_set"}
      ins(%at, %guard, %x, %iota : tensor<1000xindex>, tensor<1xi1>, tensor<1000xf32>, tensor<1000xindex>) outs(%empty : tensor<1000xf32>) {
  ^bb0(%a: index, %b: i1, %c: f32, %d: index, %out: f32):
    linalg.yield %out : f32
  } -> tensor<1000xf32>
  return %y : tensor<1000xf32>
}

// Ranks that are read are found by a second sort, of the places.
// CHECK-LABEL: func.func @ranked
// CHECK-NOT: "rank"
// CHECK-COUNT-20: library_call = "sort_tuples"
// CHECK: arith.index_cast %{{.*}} : i32 to index
func.func @ranked(%keys: tensor<1000xi32>) -> tensor<1x1000x1xindex> {
  %iota_empty = tensor.empty() : tensor<1000xindex>
  %iota = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%iota_empty : tensor<1000xindex>) {
  ^bb0(%out: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<1000xindex>
  %rows = tensor.expand_shape %keys [[0, 1, 2]] output_shape [1, 1000, 1] : tensor<1000xi32> into tensor<1x1000x1xi32>
  %ranks_empty = tensor.empty() : tensor<1x1000x1xindex>
  %ranks = linalg.generic {indexing_maps = [#keys, #places, #ranks], iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"}
      ins(%rows, %iota : tensor<1x1000x1xi32>, tensor<1000xindex>) outs(%ranks_empty : tensor<1x1000x1xindex>) {
  ^bb0(%in: i32, %at: index, %out: index):
    linalg.yield %at : index
  } -> tensor<1x1000x1xindex>
  return %ranks : tensor<1x1000x1xindex>
}

// A NaN ties with all: floats are ranked as they are. So are several rows.
// CHECK-LABEL: func.func @not_integers
// CHECK: library_call = "rank"
// CHECK-NOT: sort_tuples
func.func @not_integers(%rows: tensor<1x1000x1xf32>, %several: tensor<2x1000x1xi32>) -> (tensor<1x1000x1xindex>, tensor<2x1000x1xindex>) {
  %iota_empty = tensor.empty() : tensor<1000xindex>
  %iota = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%iota_empty : tensor<1000xindex>) {
  ^bb0(%out: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<1000xindex>
  %ranks_empty = tensor.empty() : tensor<1x1000x1xindex>
  %ranks = linalg.generic {indexing_maps = [#keys, #places, #ranks], iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"}
      ins(%rows, %iota : tensor<1x1000x1xf32>, tensor<1000xindex>) outs(%ranks_empty : tensor<1x1000x1xindex>) {
  ^bb0(%in: f32, %at: index, %out: index):
    linalg.yield %at : index
  } -> tensor<1x1000x1xindex>
  %more_empty = tensor.empty() : tensor<2x1000x1xindex>
  %more = linalg.generic {indexing_maps = [#keys, #places, #ranks], iterator_types = ["parallel", "parallel", "parallel", "reduction"], library_call = "rank"}
      ins(%several, %iota : tensor<2x1000x1xi32>, tensor<1000xindex>) outs(%more_empty : tensor<2x1000x1xindex>) {
  ^bb0(%in: i32, %at: index, %out: index):
    linalg.yield %at : index
  } -> tensor<2x1000x1xindex>
  return %ranks, %more : tensor<1x1000x1xindex>, tensor<2x1000x1xindex>
}
}
