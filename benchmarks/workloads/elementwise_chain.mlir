// gelu(x * scale + shift) * sigmoid(x), element by element.
// Exported from JAX.
// sizes: side = 4096

#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> ()>
func.func @main(%x: tensor<4096x4096xf32>, %scale: tensor<4096xf32>, %shift: tensor<4096xf32>) -> tensor<4096x4096xf32> {
  %cst = arith.constant dense<5.000000e-01> : tensor<f32>
  %cst_0 = arith.constant dense<1.000000e+00> : tensor<f32>
  %cst_1 = arith.constant dense<0.797884583> : tensor<f32>
  %cst_2 = arith.constant dense<4.471500e-02> : tensor<f32>
  %0 = tensor.empty() : tensor<1x4096xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%scale : tensor<4096xf32>) outs(%0 : tensor<1x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x4096xf32>
  %2 = tensor.empty() : tensor<4096x4096xf32>
  %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<1x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x4096xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%x, %3 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.mulf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%shift : tensor<4096xf32>) outs(%0 : tensor<1x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x4096xf32>
  %6 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<1x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x4096xf32>
  %7 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%4, %6 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.addf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7, %7 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.mulf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %7 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.mulf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %10 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x4096xf32>
  %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10, %9 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.mulf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7, %11 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.addf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %13 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x4096xf32>
  %14 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%13, %12 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.mulf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %26 = math.tanh %in : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %16 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x4096xf32>
  %17 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%16, %15 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.addf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %18 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x4096xf32>
  %19 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18, %17 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.mulf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %20 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7, %19 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.mulf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %26 = arith.negf %in : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %26 = math.exp %in : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %23 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%16, %22 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.addf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %24 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%16, %23 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.divf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  %25 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%20, %24 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%2 : tensor<4096x4096xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %26 = arith.mulf %in, %in_3 : f32
    linalg.yield %26 : f32
  } -> tensor<4096x4096xf32>
  return %25 : tensor<4096x4096xf32>
}
