// RUN: ipu-opt %s | ipu-opt --cse | filecheck %s

#map = affine_map<(i, j) -> (i, j)>

// Equal calls are one call, and one whose result nobody reads is none.
// CHECK-LABEL: func.func @a_call_has_no_effects
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>)
// CHECK: %[[INIT:.*]] = tensor.empty
// CHECK-NEXT: %[[Y:.*]] = "ipu.library_call"(%[[X]], %[[INIT]]) {codelet = "sort", indexing_maps = [#[[MAP:.*]], #[[MAP]]],
// CHECK-SAME: inputs = 1 : i64, iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>],
// CHECK-SAME: updated = [false]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[Y]], %[[Y]]
func.func @a_call_has_no_effects(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %init = tensor.empty() : tensor<3x4xf32>
  %y = "ipu.library_call"(%x, %init) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>, codelet = "sort", inputs = 1 : i64, updated = [false], indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = "ipu.library_call"(%x, %init) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>, codelet = "sort", inputs = 1 : i64, updated = [false], indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}
