// RUN: ipu-opt %s --ipu-restore-library-calls --canonicalize | filecheck %s

#map = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @a_body_says_only_what_is_updated
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<4xi32>)
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"], library_call = "sort"}
// CHECK-SAME: ins(%[[X]] : tensor<4xf32>) outs(%[[X]] : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %cst
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} library_call = "sort"}
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[OLD:.*]]: i32):
// CHECK-NEXT: arith.addi %[[OLD]], %[[OLD]]
// CHECK: return %[[Y]], %[[Z]]
func.func @a_body_says_only_what_is_updated(%x: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %y = "ipu.library_call"(%x, %x) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>, codelet = "sort", inputs = 1 : i64, updated = [false], indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<reduction>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = "ipu.library_call"(%n, %n) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>, codelet = "sort", inputs = 1 : i64, updated = [true], indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<reduction>]} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %y, %z : tensor<4xf32>, tensor<4xi32>
}
