// Three dense layers, 784 - 256 - 128 - 10, with relu: the scores of a batch.
// Exported from JAX.
// sizes: batch = 32

#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> ()>
func.func @main(%x: tensor<32x784xf32>, %w1: tensor<784x256xf32>, %b1: tensor<256xf32>, %w2: tensor<256x128xf32>, %b2: tensor<128xf32>, %w3: tensor<128x10xf32>, %b3: tensor<10xf32>) -> tensor<32x10xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
  %0 = tensor.empty() : tensor<32x256xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<32x256xf32>) -> tensor<32x256xf32>
  %2 = linalg.matmul ins(%x, %w1 : tensor<32x784xf32>, tensor<784x256xf32>) outs(%1 : tensor<32x256xf32>) -> tensor<32x256xf32>
  %3 = tensor.empty() : tensor<1x256xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b1 : tensor<256xf32>) outs(%3 : tensor<1x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x256xf32>
  %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<1x256xf32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x256xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %5 : tensor<32x256xf32>, tensor<32x256xf32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %25 = arith.addf %in, %in_1 : f32
    linalg.yield %25 : f32
  } -> tensor<32x256xf32>
  %7 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x256xf32>
  %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<32x256xf32>, tensor<32x256xf32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %25 = arith.maximumf %in, %in_1 : f32
    linalg.yield %25 : f32
  } -> tensor<32x256xf32>
  %9 = tensor.empty() : tensor<32x128xf32>
  %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %11 = linalg.matmul ins(%8, %w2 : tensor<32x256xf32>, tensor<256x128xf32>) outs(%10 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %12 = tensor.empty() : tensor<1x128xf32>
  %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b2 : tensor<128xf32>) outs(%12 : tensor<1x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x128xf32>
  %14 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<1x128xf32>) outs(%9 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x128xf32>
  %15 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%11, %14 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%9 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %25 = arith.addf %in, %in_1 : f32
    linalg.yield %25 : f32
  } -> tensor<32x128xf32>
  %16 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%9 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x128xf32>
  %17 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%15, %16 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%9 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %25 = arith.maximumf %in, %in_1 : f32
    linalg.yield %25 : f32
  } -> tensor<32x128xf32>
  %18 = tensor.empty() : tensor<32x10xf32>
  %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<32x10xf32>) -> tensor<32x10xf32>
  %20 = linalg.matmul ins(%17, %w3 : tensor<32x128xf32>, tensor<128x10xf32>) outs(%19 : tensor<32x10xf32>) -> tensor<32x10xf32>
  %21 = tensor.empty() : tensor<1x10xf32>
  %22 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b3 : tensor<10xf32>) outs(%21 : tensor<1x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x10xf32>
  %23 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<1x10xf32>) outs(%18 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x10xf32>
  %24 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%20, %23 : tensor<32x10xf32>, tensor<32x10xf32>) outs(%18 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %25 = arith.addf %in, %in_1 : f32
    linalg.yield %25 : f32
  } -> tensor<32x10xf32>
  return %24 : tensor<32x10xf32>
}
