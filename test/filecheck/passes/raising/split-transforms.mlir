// RUN: ipu-opt %s --ipu-split-transforms | filecheck %s

#row = affine_map<(n, p) -> (n, p)>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 64, bytes_per_tile = 65536}>} {
// The columns of 64 x 64 elements are transformed, turned by roots of unity, and their rows; both parts of each.
// CHECK-LABEL: func.func @long_row
// CHECK-SAME: (%[[X:.*]]: tensor<4096x2xf32>)
// CHECK: %[[COLUMNS:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x64x64x2xf32>)
// CHECK: %[[DOWN:.*]] = linalg.generic {{.*}}library_call = "fft"} ins(%[[COLUMNS]] :
// CHECK: tensor.extract_slice %[[DOWN]][0, 0, 0, 0] [1, 64, 64, 1]
// CHECK: tensor.extract_slice %[[DOWN]][0, 0, 0, 1] [1, 64, 64, 1]
// CHECK: arith.subf
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}}library_call = "fft"}
// CHECK: return %{{.*}} : tensor<4096x2xf32>
func.func @long_row(%x: tensor<4096x2xf32>) -> tensor<4096x2xf32> {
  %empty = tensor.empty() : tensor<4096x2xf32>
  %0 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["reduction", "reduction"], library_call = "fft"}
      ins(%x : tensor<4096x2xf32>) outs(%empty : tensor<4096x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4096x2xf32>
  return %0 : tensor<4096x2xf32>
}

// Nothing divides a prime, and a short row is done as soon.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: library_call = "fft"
// CHECK-NOT: library_call
func.func @others(%x: tensor<4093x2xf32>, %y: tensor<16x2xf32>) -> (tensor<4093x2xf32>, tensor<16x2xf32>) {
  %0 = tensor.empty() : tensor<4093x2xf32>
  %1 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["reduction", "reduction"], library_call = "fft"}
      ins(%x : tensor<4093x2xf32>) outs(%0 : tensor<4093x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4093x2xf32>
  %2 = tensor.empty() : tensor<16x2xf32>
  %3 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["reduction", "reduction"], library_call = "fft"}
      ins(%y : tensor<16x2xf32>) outs(%2 : tensor<16x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<16x2xf32>
  return %1, %3 : tensor<4093x2xf32>, tensor<16x2xf32>
}
}
