// One step of gradient descent on three dense layers: the mean cross entropy, and the new weights.
// Exported from JAX.
// sizes: batch = 32

#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> ()>
#map4 = affine_map<(d0, d1) -> (d0)>
#map5 = affine_map<(d0, d1) -> (d0, 0)>
#map6 = affine_map<(d0) -> (d0)>
#map7 = affine_map<(d0) -> ()>
#map8 = affine_map<() -> ()>
#map9 = affine_map<(d0, d1) -> (d1, d0)>
#map10 = affine_map<(d0, d1, d2) -> (d2, d0)>
#map11 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map12 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map13 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map14 = affine_map<(d0, d1, d2) -> (d1, d2)>
func.func @main(%x: tensor<32x784xf32>, %labels: tensor<32xi32>, %w1: tensor<784x256xf32>, %b1: tensor<256xf32>, %w2: tensor<256x128xf32>, %b2: tensor<128xf32>, %w3: tensor<128x10xf32>, %b3: tensor<10xf32>) -> (tensor<f32>, tensor<784x256xf32>, tensor<256xf32>, tensor<256x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>) {
  %cst = arith.constant 3.125000e-02 : f32  // = 1 / batch
  %cst_0 = arith.constant 3.200000e+01 : f32  // = batch
  %cst_1 = arith.constant 0xFF800000 : f32
  %cst_2 = arith.constant 0.000000e+00 : f32
  %cst_3 = arith.constant dense<0.00999999977> : tensor<f32>
  %cst_4 = arith.constant dense<2.000000e+00> : tensor<f32>
  %cst_5 = arith.constant dense<1.000000e+00> : tensor<f32>
  %cst_6 = arith.constant dense<0.000000e+00> : tensor<f32>
  %0 = tensor.empty() : tensor<32x256xf32>
  %1 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<32x256xf32>) -> tensor<32x256xf32>
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
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.addf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x256xf32>
  %7 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x256xf32>
  %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<32x256xf32>, tensor<32x256xf32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.maximumf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x256xf32>
  %9 = tensor.empty() : tensor<32x256xi1>
  %10 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %8 : tensor<32x256xf32>, tensor<32x256xf32>) outs(%9 : tensor<32x256xi1>) {
  ^bb0(%in: f32, %in_9: f32, %out: i1):
    %129 = arith.cmpf oeq, %in, %in_9 : f32
    linalg.yield %129 : i1
  } -> tensor<32x256xi1>
  %11 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x256xf32>
  %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10, %11, %7 : tensor<32x256xi1>, tensor<32x256xf32>, tensor<32x256xf32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
    %129 = arith.select %in, %in_9, %in_10 : f32
    linalg.yield %129 : f32
  } -> tensor<32x256xf32>
  %13 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7, %8 : tensor<32x256xf32>, tensor<32x256xf32>) outs(%9 : tensor<32x256xi1>) {
  ^bb0(%in: f32, %in_9: f32, %out: i1):
    %129 = arith.cmpf oeq, %in, %in_9 : f32
    linalg.yield %129 : i1
  } -> tensor<32x256xi1>
  %14 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x256xf32>
  %15 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%13, %14, %11 : tensor<32x256xi1>, tensor<32x256xf32>, tensor<32x256xf32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
    %129 = arith.select %in, %in_9, %in_10 : f32
    linalg.yield %129 : f32
  } -> tensor<32x256xf32>
  %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%12, %15 : tensor<32x256xf32>, tensor<32x256xf32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.divf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x256xf32>
  %17 = tensor.empty() : tensor<32x128xf32>
  %18 = linalg.fill ins(%cst_2 : f32) outs(%17 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %19 = linalg.matmul ins(%8, %w2 : tensor<32x256xf32>, tensor<256x128xf32>) outs(%18 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %20 = tensor.empty() : tensor<1x128xf32>
  %21 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b2 : tensor<128xf32>) outs(%20 : tensor<1x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x128xf32>
  %22 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<1x128xf32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x128xf32>
  %23 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%19, %22 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.addf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x128xf32>
  %24 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x128xf32>
  %25 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%23, %24 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.maximumf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x128xf32>
  %26 = tensor.empty() : tensor<32x128xi1>
  %27 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%23, %25 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%26 : tensor<32x128xi1>) {
  ^bb0(%in: f32, %in_9: f32, %out: i1):
    %129 = arith.cmpf oeq, %in, %in_9 : f32
    linalg.yield %129 : i1
  } -> tensor<32x128xi1>
  %28 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x128xf32>
  %29 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%27, %28, %24 : tensor<32x128xi1>, tensor<32x128xf32>, tensor<32x128xf32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
    %129 = arith.select %in, %in_9, %in_10 : f32
    linalg.yield %129 : f32
  } -> tensor<32x128xf32>
  %30 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%24, %25 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%26 : tensor<32x128xi1>) {
  ^bb0(%in: f32, %in_9: f32, %out: i1):
    %129 = arith.cmpf oeq, %in, %in_9 : f32
    linalg.yield %129 : i1
  } -> tensor<32x128xi1>
  %31 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x128xf32>
  %32 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%30, %31, %28 : tensor<32x128xi1>, tensor<32x128xf32>, tensor<32x128xf32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
    %129 = arith.select %in, %in_9, %in_10 : f32
    linalg.yield %129 : f32
  } -> tensor<32x128xf32>
  %33 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%29, %32 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.divf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x128xf32>
  %34 = tensor.empty() : tensor<32x10xf32>
  %35 = linalg.fill ins(%cst_2 : f32) outs(%34 : tensor<32x10xf32>) -> tensor<32x10xf32>
  %36 = linalg.matmul ins(%25, %w3 : tensor<32x128xf32>, tensor<128x10xf32>) outs(%35 : tensor<32x10xf32>) -> tensor<32x10xf32>
  %37 = tensor.empty() : tensor<1x10xf32>
  %38 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b3 : tensor<10xf32>) outs(%37 : tensor<1x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x10xf32>
  %39 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%38 : tensor<1x10xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x10xf32>
  %40 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%36, %39 : tensor<32x10xf32>, tensor<32x10xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.addf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x10xf32>
  %41 = tensor.empty() : tensor<32xf32>
  %42 = linalg.fill ins(%cst_1 : f32) outs(%41 : tensor<32xf32>) -> tensor<32xf32>
  %43 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "reduction"]} ins(%40 : tensor<32x10xf32>) outs(%42 : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.maximumf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<32xf32>
  %44 = tensor.empty() : tensor<32x1xf32>
  %45 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%43 : tensor<32xf32>) outs(%44 : tensor<32x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x1xf32>
  %46 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel"]} ins(%45 : tensor<32x1xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x10xf32>
  %47 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%40, %46 : tensor<32x10xf32>, tensor<32x10xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.subf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x10xf32>
  %48 = tensor.empty() : tensor<32x1xi32>
  %49 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%labels : tensor<32xi32>) outs(%48 : tensor<32x1xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %in : i32
  } -> tensor<32x1xi32>
  %50 = tensor.empty() : tensor<10xi32>
  %51 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%50 : tensor<10xi32>) {
  ^bb0(%out: i32):
    %129 = linalg.index 0 : index
    %130 = arith.index_cast %129 : index to i32
    linalg.yield %130 : i32
  } -> tensor<10xi32>
  %52 = tensor.empty() : tensor<1x10xi32>
  %53 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%51 : tensor<10xi32>) outs(%52 : tensor<1x10xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %in : i32
  } -> tensor<1x10xi32>
  %54 = tensor.empty() : tensor<32x10xi32>
  %55 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel"]} ins(%49 : tensor<32x1xi32>) outs(%54 : tensor<32x10xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %in : i32
  } -> tensor<32x10xi32>
  %56 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%53 : tensor<1x10xi32>) outs(%54 : tensor<32x10xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %in : i32
  } -> tensor<32x10xi32>
  %57 = tensor.empty() : tensor<32x10xi1>
  %58 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%55, %56 : tensor<32x10xi32>, tensor<32x10xi32>) outs(%57 : tensor<32x10xi1>) {
  ^bb0(%in: i32, %in_9: i32, %out: i1):
    %129 = arith.cmpi eq, %in, %in_9 : i32
    linalg.yield %129 : i1
  } -> tensor<32x10xi1>
  %59 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%58 : tensor<32x10xi1>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: i1, %out: f32):
    %129 = arith.uitofp %in : i1 to f32
    linalg.yield %129 : f32
  } -> tensor<32x10xf32>
  %60 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%47 : tensor<32x10xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = math.exp %in : f32
    linalg.yield %129 : f32
  } -> tensor<32x10xf32>
  %61 = linalg.fill ins(%cst_2 : f32) outs(%41 : tensor<32xf32>) -> tensor<32xf32>
  %62 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "reduction"]} ins(%60 : tensor<32x10xf32>) outs(%61 : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<32xf32>
  %63 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%62 : tensor<32xf32>) outs(%41 : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = math.log %in : f32
    linalg.yield %129 : f32
  } -> tensor<32xf32>
  %64 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%47, %59 : tensor<32x10xf32>, tensor<32x10xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x10xf32>
  %65 = linalg.generic {indexing_maps = [#map1, #map4], iterator_types = ["parallel", "reduction"]} ins(%64 : tensor<32x10xf32>) outs(%61 : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<32xf32>
  %66 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%63, %65 : tensor<32xf32>, tensor<32xf32>) outs(%41 : tensor<32xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.subf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32xf32>
  %67 = tensor.empty() : tensor<f32>
  %68 = linalg.fill ins(%cst_2 : f32) outs(%67 : tensor<f32>) -> tensor<f32>
  %69 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["reduction"]} ins(%66 : tensor<32xf32>) outs(%68 : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<f32>
  %70 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = []} ins(%69 : tensor<f32>) outs(%67 : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.divf %in, %cst_0 : f32
    linalg.yield %129 : f32
  } -> tensor<f32>
  %71 = linalg.generic {indexing_maps = [#map8], iterator_types = []} outs(%67 : tensor<f32>) {
  ^bb0(%out: f32):
    linalg.yield %cst : f32
  } -> tensor<f32>
  %72 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel"]} ins(%71 : tensor<f32>) outs(%41 : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32xf32>
  %73 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%72 : tensor<32xf32>) outs(%41 : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.negf %in : f32
    linalg.yield %129 : f32
  } -> tensor<32xf32>
  %74 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%73 : tensor<32xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x10xf32>
  %75 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%74, %59 : tensor<32x10xf32>, tensor<32x10xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x10xf32>
  %76 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%72, %62 : tensor<32xf32>, tensor<32xf32>) outs(%41 : tensor<32xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.divf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32xf32>
  %77 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel"]} ins(%76 : tensor<32xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x10xf32>
  %78 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%77, %60 : tensor<32x10xf32>, tensor<32x10xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x10xf32>
  %79 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%75, %78 : tensor<32x10xf32>, tensor<32x10xf32>) outs(%34 : tensor<32x10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.addf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x10xf32>
  %80 = tensor.empty() : tensor<10xf32>
  %81 = linalg.fill ins(%cst_2 : f32) outs(%80 : tensor<10xf32>) -> tensor<10xf32>
  %82 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "reduction"]} ins(%79 : tensor<32x10xf32>) outs(%81 : tensor<10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<10xf32>
  %expanded = tensor.expand_shape %82 [[0, 1]] output_shape [1, 10] : tensor<10xf32> into tensor<1x10xf32>
  %83 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "reduction"]} ins(%expanded : tensor<1x10xf32>) outs(%81 : tensor<10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<10xf32>
  %84 = tensor.empty() : tensor<10x128xf32>
  %85 = linalg.fill ins(%cst_2 : f32) outs(%84 : tensor<10x128xf32>) -> tensor<10x128xf32>
  %86 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%79, %25 : tensor<32x10xf32>, tensor<32x128xf32>) outs(%85 : tensor<10x128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    %130 = arith.addf %out, %129 : f32
    linalg.yield %130 : f32
  } -> tensor<10x128xf32>
  %87 = tensor.empty() : tensor<128x10xf32>
  %88 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel"]} ins(%86 : tensor<10x128xf32>) outs(%87 : tensor<128x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x10xf32>
  %89 = linalg.generic {indexing_maps = [#map13, #map14, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%79, %w3 : tensor<32x10xf32>, tensor<128x10xf32>) outs(%18 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    %130 = arith.addf %out, %129 : f32
    linalg.yield %130 : f32
  } -> tensor<32x128xf32>
  %90 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%89, %33 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%17 : tensor<32x128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x128xf32>
  %91 = tensor.empty() : tensor<128xf32>
  %92 = linalg.fill ins(%cst_2 : f32) outs(%91 : tensor<128xf32>) -> tensor<128xf32>
  %93 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "reduction"]} ins(%90 : tensor<32x128xf32>) outs(%92 : tensor<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<128xf32>
  %expanded_7 = tensor.expand_shape %93 [[0, 1]] output_shape [1, 128] : tensor<128xf32> into tensor<1x128xf32>
  %94 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "reduction"]} ins(%expanded_7 : tensor<1x128xf32>) outs(%92 : tensor<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<128xf32>
  %95 = tensor.empty() : tensor<128x256xf32>
  %96 = linalg.fill ins(%cst_2 : f32) outs(%95 : tensor<128x256xf32>) -> tensor<128x256xf32>
  %97 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%90, %8 : tensor<32x128xf32>, tensor<32x256xf32>) outs(%96 : tensor<128x256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    %130 = arith.addf %out, %129 : f32
    linalg.yield %130 : f32
  } -> tensor<128x256xf32>
  %98 = tensor.empty() : tensor<256x128xf32>
  %99 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel"]} ins(%97 : tensor<128x256xf32>) outs(%98 : tensor<256x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<256x128xf32>
  %100 = linalg.generic {indexing_maps = [#map13, #map14, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%90, %w2 : tensor<32x128xf32>, tensor<256x128xf32>) outs(%1 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    %130 = arith.addf %out, %129 : f32
    linalg.yield %130 : f32
  } -> tensor<32x256xf32>
  %101 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%100, %16 : tensor<32x256xf32>, tensor<32x256xf32>) outs(%0 : tensor<32x256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<32x256xf32>
  %102 = tensor.empty() : tensor<256xf32>
  %103 = linalg.fill ins(%cst_2 : f32) outs(%102 : tensor<256xf32>) -> tensor<256xf32>
  %104 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "reduction"]} ins(%101 : tensor<32x256xf32>) outs(%103 : tensor<256xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<256xf32>
  %expanded_8 = tensor.expand_shape %104 [[0, 1]] output_shape [1, 256] : tensor<256xf32> into tensor<1x256xf32>
  %105 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "reduction"]} ins(%expanded_8 : tensor<1x256xf32>) outs(%103 : tensor<256xf32>) {
  ^bb0(%in: f32, %out: f32):
    %129 = arith.addf %out, %in : f32
    linalg.yield %129 : f32
  } -> tensor<256xf32>
  %106 = tensor.empty() : tensor<256x784xf32>
  %107 = linalg.fill ins(%cst_2 : f32) outs(%106 : tensor<256x784xf32>) -> tensor<256x784xf32>
  %108 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "reduction"]} ins(%101, %x : tensor<32x256xf32>, tensor<32x784xf32>) outs(%107 : tensor<256x784xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    %130 = arith.addf %out, %129 : f32
    linalg.yield %130 : f32
  } -> tensor<256x784xf32>
  %109 = tensor.empty() : tensor<784x256xf32>
  %110 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel"]} ins(%108 : tensor<256x784xf32>) outs(%109 : tensor<784x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<784x256xf32>
  %111 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%109 : tensor<784x256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<784x256xf32>
  %112 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%111, %110 : tensor<784x256xf32>, tensor<784x256xf32>) outs(%109 : tensor<784x256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<784x256xf32>
  %113 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%w1, %112 : tensor<784x256xf32>, tensor<784x256xf32>) outs(%109 : tensor<784x256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.subf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<784x256xf32>
  %114 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel"]} ins(%cst_3 : tensor<f32>) outs(%102 : tensor<256xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<256xf32>
  %115 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%114, %105 : tensor<256xf32>, tensor<256xf32>) outs(%102 : tensor<256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<256xf32>
  %116 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%b1, %115 : tensor<256xf32>, tensor<256xf32>) outs(%102 : tensor<256xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.subf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<256xf32>
  %117 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%98 : tensor<256x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<256x128xf32>
  %118 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%117, %99 : tensor<256x128xf32>, tensor<256x128xf32>) outs(%98 : tensor<256x128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<256x128xf32>
  %119 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%w2, %118 : tensor<256x128xf32>, tensor<256x128xf32>) outs(%98 : tensor<256x128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.subf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<256x128xf32>
  %120 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel"]} ins(%cst_3 : tensor<f32>) outs(%91 : tensor<128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128xf32>
  %121 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%120, %94 : tensor<128xf32>, tensor<128xf32>) outs(%91 : tensor<128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<128xf32>
  %122 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%b2, %121 : tensor<128xf32>, tensor<128xf32>) outs(%91 : tensor<128xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.subf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<128xf32>
  %123 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%87 : tensor<128x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x10xf32>
  %124 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%123, %88 : tensor<128x10xf32>, tensor<128x10xf32>) outs(%87 : tensor<128x10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<128x10xf32>
  %125 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%w3, %124 : tensor<128x10xf32>, tensor<128x10xf32>) outs(%87 : tensor<128x10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.subf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<128x10xf32>
  %126 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel"]} ins(%cst_3 : tensor<f32>) outs(%80 : tensor<10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<10xf32>
  %127 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%126, %83 : tensor<10xf32>, tensor<10xf32>) outs(%80 : tensor<10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.mulf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<10xf32>
  %128 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%b3, %127 : tensor<10xf32>, tensor<10xf32>) outs(%80 : tensor<10xf32>) {
  ^bb0(%in: f32, %in_9: f32, %out: f32):
    %129 = arith.subf %in, %in_9 : f32
    linalg.yield %129 : f32
  } -> tensor<10xf32>
  return %70, %113, %116, %119, %122, %125, %128 : tensor<f32>, tensor<784x256xf32>, tensor<256xf32>, tensor<256x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>
}
