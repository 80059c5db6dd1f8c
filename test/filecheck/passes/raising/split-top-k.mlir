// RUN: ipu-opt %s --ipu-split-top-k --canonicalize | filecheck %s

#keys = affine_map<(d0, d1) -> (d0)>
#places = affine_map<(d0, d1) -> (d1)>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu=8}>} {
// Seven elements are missing in the last part: they are the least of all.
// CHECK-LABEL: func.func @long
// CHECK-SAME: (%[[KEYS:.*]]: tensor<10001xi32>)
// CHECK: %[[FILLED:.*]] = linalg.fill ins(%c-2147483648_i32 : i32)
// CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[KEYS]] into %[[FILLED]][0] [10001] [1]
// CHECK: %[[PARTS:.*]] = tensor.expand_shape %[[PADDED]] {{.*}} output_shape [8, 1251]
// CHECK: %[[INSIDE:.*]] = linalg.generic {{.*}}library_call = "top_k"} ins(%[[PARTS]] : tensor<8x1251xi32>) outs(%{{.*}} : tensor<8x4xi32>)
// CHECK: %[[FOUND:.*]]:2 = linalg.generic {{.*}} ins(%[[INSIDE]] : tensor<8x4xi32>)
// CHECK: arith.muli %{{.*}}, %c1251
// CHECK: %[[BEST:.*]] = tensor.collapse_shape %[[FOUND]]#0
// CHECK: %[[STOOD:.*]] = tensor.collapse_shape %[[FOUND]]#1
// CHECK: %[[AMONG:.*]] = linalg.generic {{.*}}library_call = "top_k"} ins(%[[BEST]] : tensor<32xi32>) outs(%{{.*}} : tensor<4xi32>)
// CHECK: linalg.generic {{.*}} ins(%[[AMONG]] : tensor<4xi32>)
// CHECK: tensor.extract %[[STOOD]]
func.func @long(%keys: tensor<10001xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [#keys, #places], iterator_types = ["reduction", "reduction"], library_call = "top_k"}
      ins(%keys : tensor<10001xi32>) outs(%empty : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Two steps would take longer.
// CHECK-LABEL: func.func @short
// CHECK-COUNT-1: library_call = "top_k"
// CHECK-NOT: library_call
func.func @short(%keys: tensor<20xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [#keys, #places], iterator_types = ["reduction", "reduction"], library_call = "top_k"}
      ins(%keys : tensor<20xi32>) outs(%empty : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %zero : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
}
