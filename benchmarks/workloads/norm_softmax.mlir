// Layer norm, then softmax, along rows of 1024.
// Exported from JAX.
// sizes: rows = 4096

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (0, d1)>
func.func @main(%x: tensor<4096x1024xf32>, %gain: tensor<1024xf32>, %shift: tensor<1024xf32>) -> tensor<4096x1024xf32> {
  %cst = arith.constant 0xFF800000 : f32
  %cst_0 = arith.constant dense<9.99999974E-6> : tensor<f32>
  %cst_1 = arith.constant dense<1.024000e+03> : tensor<f32>
  %cst_2 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<4096xf32>
  %1 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<4096xf32>) -> tensor<4096xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x1024xf32>) outs(%1 : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %36 = arith.addf %out, %in : f32
    linalg.yield %36 : f32
  } -> tensor<4096xf32>
  %3 = tensor.empty() : tensor<4096x1xf32>
  %4 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<4096xf32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1xf32>
  %5 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1xf32>
  %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %5 : tensor<4096x1xf32>, tensor<4096x1xf32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.divf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1xf32>
  %7 = tensor.empty() : tensor<4096x1024xf32>
  %8 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<4096x1xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1024xf32>
  %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %8 : tensor<4096x1024xf32>, tensor<4096x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.subf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1024xf32>
  %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %9 : tensor<4096x1024xf32>, tensor<4096x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.mulf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1024xf32>
  %11 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%10 : tensor<4096x1024xf32>) outs(%1 : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %36 = arith.addf %out, %in : f32
    linalg.yield %36 : f32
  } -> tensor<4096xf32>
  %12 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<4096xf32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1xf32>
  %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %5 : tensor<4096x1xf32>, tensor<4096x1xf32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.divf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1xf32>
  %14 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1xf32>
  %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %14 : tensor<4096x1xf32>, tensor<4096x1xf32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.addf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1xf32>
  %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<4096x1xf32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %36 = math.rsqrt %in : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1xf32>
  %17 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<4096x1xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1024xf32>
  %18 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %17 : tensor<4096x1024xf32>, tensor<4096x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.mulf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1024xf32>
  %19 = tensor.empty() : tensor<1x1024xf32>
  %20 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%gain : tensor<1024xf32>) outs(%19 : tensor<1x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x1024xf32>
  %21 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<1x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1024xf32>
  %22 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%18, %21 : tensor<4096x1024xf32>, tensor<4096x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.mulf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1024xf32>
  %23 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%shift : tensor<1024xf32>) outs(%19 : tensor<1x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x1024xf32>
  %24 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<1x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1024xf32>
  %25 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%22, %24 : tensor<4096x1024xf32>, tensor<4096x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.addf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1024xf32>
  %26 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4096xf32>) -> tensor<4096xf32>
  %27 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%25 : tensor<4096x1024xf32>) outs(%26 : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %36 = arith.maximumf %out, %in : f32
    linalg.yield %36 : f32
  } -> tensor<4096xf32>
  %28 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<4096xf32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1xf32>
  %29 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<4096x1xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1024xf32>
  %30 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%25, %29 : tensor<4096x1024xf32>, tensor<4096x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.subf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1024xf32>
  %31 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%30 : tensor<4096x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %36 = math.exp %in : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1024xf32>
  %32 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%31 : tensor<4096x1024xf32>) outs(%1 : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %36 = arith.addf %out, %in : f32
    linalg.yield %36 : f32
  } -> tensor<4096xf32>
  %33 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%32 : tensor<4096xf32>) outs(%3 : tensor<4096x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1xf32>
  %34 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<4096x1xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4096x1024xf32>
  %35 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%31, %34 : tensor<4096x1024xf32>, tensor<4096x1024xf32>) outs(%7 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %36 = arith.divf %in, %in_3 : f32
    linalg.yield %36 : f32
  } -> tensor<4096x1024xf32>
  return %35 : tensor<4096x1024xf32>
}
