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

// Half of a spectrum, doubled, has zeros behind it; of the result the real parts are taken.
// CHECK-LABEL: func.func @half
// CHECK: %[[WHOLE:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [2049, 2] [1, 1] : tensor<2049x2xf32> into tensor<4096x2xf32>
// CHECK-COUNT-2: library_call = "ifft"
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [4096, 1] [1, 1] : tensor<4096x2xf32> to tensor<4096xf32>
func.func @half(%x: tensor<2049x2xf32>) -> tensor<4096xf32> {
  %empty = tensor.empty() : tensor<4096xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(h, p, n) -> (h, p)>, affine_map<(h, p, n) -> (n)>],
                       iterator_types = ["reduction", "reduction", "reduction"], library_call = "irfft"}
      ins(%x : tensor<2049x2xf32>) outs(%empty : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// Nothing divides a prime: its transform is a convolution by transforms of 8192, there and back. A short row is done as
// soon by one vertex.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: library_call = "fft"} ins(%{{.*}} : tensor<1x{{.*}}xf32>)
// CHECK-COUNT-2: library_call = "ifft"} ins(%{{.*}} : tensor<1x{{.*}}xf32>)
// CHECK: library_call = "fft"} ins(%{{.*}} : tensor<16x2xf32>)
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
