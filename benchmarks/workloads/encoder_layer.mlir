// A transformer encoder layer of width 512 with 8 heads: attention, add and norm, 2048 wide gelu, add and norm.
// rows = 8 * sequence: 8 sequences make a batch.
// Exported from JAX.
// sizes: sequence = 128, rows = 1024

#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d0, d2, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> ()>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map12 = affine_map<(d0, d1) -> (d0)>
#map13 = affine_map<(d0, d1) -> ()>
#map14 = affine_map<(d0, d1) -> (d0, 0)>
func.func @main(%x: tensor<8x128x512xf32>, %w_qkv: tensor<512x1536xf32>, %b_qkv: tensor<1536xf32>, %w_out: tensor<512x512xf32>, %b_out: tensor<512xf32>, %gain1: tensor<512xf32>, %shift1: tensor<512xf32>, %w_up: tensor<512x2048xf32>, %b_up: tensor<2048xf32>, %w_down: tensor<2048x512xf32>, %b_down: tensor<512xf32>, %gain2: tensor<512xf32>, %shift2: tensor<512xf32>) -> tensor<8x128x512xf32> {
  %cst = arith.constant 0xFF800000 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %cst_1 = arith.constant dense<5.000000e-01> : tensor<f32>
  %cst_2 = arith.constant dense<1.000000e+00> : tensor<f32>
  %cst_3 = arith.constant dense<0.797884583> : tensor<f32>
  %cst_4 = arith.constant dense<4.471500e-02> : tensor<f32>
  %cst_5 = arith.constant dense<9.99999974E-6> : tensor<f32>
  %cst_6 = arith.constant dense<5.120000e+02> : tensor<f32>
  %cst_7 = arith.constant dense<1.250000e-01> : tensor<f32>
  %collapsed = tensor.collapse_shape %x [[0, 1], [2]] : tensor<8x128x512xf32> into tensor<1024x512xf32>
  %0 = tensor.empty() : tensor<1024x1536xf32>
  %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<1024x1536xf32>) -> tensor<1024x1536xf32>
  %2 = linalg.matmul ins(%collapsed, %w_qkv : tensor<1024x512xf32>, tensor<512x1536xf32>) outs(%1 : tensor<1024x1536xf32>) -> tensor<1024x1536xf32>
  %3 = tensor.empty() : tensor<1x1536xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b_qkv : tensor<1536xf32>) outs(%3 : tensor<1x1536xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x1536xf32>
  %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<1x1536xf32>) outs(%0 : tensor<1024x1536xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x1536xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %5 : tensor<1024x1536xf32>, tensor<1024x1536xf32>) outs(%0 : tensor<1024x1536xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1536xf32>
  %expanded = tensor.expand_shape %6 [[0, 1], [2, 3, 4]] output_shape [8, 128, 3, 8, 64] : tensor<1024x1536xf32> into tensor<8x128x3x8x64xf32>
  %7 = tensor.empty() : tensor<3x8x8x128x64xf32>
  %8 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x128x3x8x64xf32>) outs(%7 : tensor<3x8x8x128x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3x8x8x128x64xf32>
  %extracted_slice = tensor.extract_slice %8[0, 0, 0, 0, 0] [1, 8, 8, 128, 64] [1, 1, 1, 1, 1] : tensor<3x8x8x128x64xf32> to tensor<1x8x8x128x64xf32>
  %collapsed_8 = tensor.collapse_shape %extracted_slice [[0, 1, 2], [3], [4]] : tensor<1x8x8x128x64xf32> into tensor<64x128x64xf32>
  %extracted_slice_9 = tensor.extract_slice %8[1, 0, 0, 0, 0] [1, 8, 8, 128, 64] [1, 1, 1, 1, 1] : tensor<3x8x8x128x64xf32> to tensor<1x8x8x128x64xf32>
  %collapsed_10 = tensor.collapse_shape %extracted_slice_9 [[0, 1, 2], [3], [4]] : tensor<1x8x8x128x64xf32> into tensor<64x128x64xf32>
  %extracted_slice_11 = tensor.extract_slice %8[2, 0, 0, 0, 0] [1, 8, 8, 128, 64] [1, 1, 1, 1, 1] : tensor<3x8x8x128x64xf32> to tensor<1x8x8x128x64xf32>
  %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [[0, 1, 2], [3], [4]] : tensor<1x8x8x128x64xf32> into tensor<64x128x64xf32>
  %9 = tensor.empty() : tensor<64x64x128xf32>
  %10 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_10 : tensor<64x128x64xf32>) outs(%9 : tensor<64x64x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x64x128xf32>
  %11 = tensor.empty() : tensor<64x128x128xf32>
  %12 = linalg.fill ins(%cst_0 : f32) outs(%11 : tensor<64x128x128xf32>) -> tensor<64x128x128xf32>
  %13 = linalg.batch_matmul ins(%collapsed_8, %10 : tensor<64x128x64xf32>, tensor<64x64x128xf32>) outs(%12 : tensor<64x128x128xf32>) -> tensor<64x128x128xf32>
  %14 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%11 : tensor<64x128x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x128x128xf32>
  %15 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %14 : tensor<64x128x128xf32>, tensor<64x128x128xf32>) outs(%11 : tensor<64x128x128xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<64x128x128xf32>
  %16 = tensor.empty() : tensor<64x128xf32>
  %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %18 = linalg.generic {indexing_maps = [#map6, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15 : tensor<64x128x128xf32>) outs(%17 : tensor<64x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = arith.maximumf %out, %in : f32
    linalg.yield %110 : f32
  } -> tensor<64x128xf32>
  %19 = tensor.empty() : tensor<64x128x1xf32>
  %20 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<64x128xf32>) outs(%19 : tensor<64x128x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x128x1xf32>
  %21 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<64x128x1xf32>) outs(%11 : tensor<64x128x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x128x128xf32>
  %22 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %21 : tensor<64x128x128xf32>, tensor<64x128x128xf32>) outs(%11 : tensor<64x128x128xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.subf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<64x128x128xf32>
  %23 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<64x128x128xf32>) outs(%11 : tensor<64x128x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = math.exp %in : f32
    linalg.yield %110 : f32
  } -> tensor<64x128x128xf32>
  %24 = linalg.fill ins(%cst_0 : f32) outs(%16 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %25 = linalg.generic {indexing_maps = [#map6, #map8], iterator_types = ["parallel", "parallel", "reduction"]} ins(%23 : tensor<64x128x128xf32>) outs(%24 : tensor<64x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = arith.addf %out, %in : f32
    linalg.yield %110 : f32
  } -> tensor<64x128xf32>
  %26 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25 : tensor<64x128xf32>) outs(%19 : tensor<64x128x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x128x1xf32>
  %27 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26 : tensor<64x128x1xf32>) outs(%11 : tensor<64x128x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x128x128xf32>
  %28 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %27 : tensor<64x128x128xf32>, tensor<64x128x128xf32>) outs(%11 : tensor<64x128x128xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.divf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<64x128x128xf32>
  %29 = tensor.empty() : tensor<64x128x64xf32>
  %30 = linalg.fill ins(%cst_0 : f32) outs(%29 : tensor<64x128x64xf32>) -> tensor<64x128x64xf32>
  %31 = linalg.batch_matmul ins(%28, %collapsed_12 : tensor<64x128x128xf32>, tensor<64x128x64xf32>) outs(%30 : tensor<64x128x64xf32>) -> tensor<64x128x64xf32>
  %expanded_13 = tensor.expand_shape %31 [[0, 1], [2], [3]] output_shape [8, 8, 128, 64] : tensor<64x128x64xf32> into tensor<8x8x128x64xf32>
  %32 = tensor.empty() : tensor<8x128x8x64xf32>
  %33 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_13 : tensor<8x8x128x64xf32>) outs(%32 : tensor<8x128x8x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x128x8x64xf32>
  %collapsed_14 = tensor.collapse_shape %33 [[0, 1], [2, 3]] : tensor<8x128x8x64xf32> into tensor<1024x512xf32>
  %34 = tensor.empty() : tensor<1024x512xf32>
  %35 = linalg.fill ins(%cst_0 : f32) outs(%34 : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %36 = linalg.matmul ins(%collapsed_14, %w_out : tensor<1024x512xf32>, tensor<512x512xf32>) outs(%35 : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %37 = tensor.empty() : tensor<1x512xf32>
  %38 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b_out : tensor<512xf32>) outs(%37 : tensor<1x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x512xf32>
  %39 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%38 : tensor<1x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %40 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%36, %39 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %41 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%40, %collapsed : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %42 = tensor.empty() : tensor<1024xf32>
  %43 = linalg.fill ins(%cst_0 : f32) outs(%42 : tensor<1024xf32>) -> tensor<1024xf32>
  %44 = linalg.generic {indexing_maps = [#map1, #map12], iterator_types = ["parallel", "reduction"]} ins(%41 : tensor<1024x512xf32>) outs(%43 : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = arith.addf %out, %in : f32
    linalg.yield %110 : f32
  } -> tensor<1024xf32>
  %45 = tensor.empty() : tensor<1024x1xf32>
  %46 = linalg.generic {indexing_maps = [#map12, #map1], iterator_types = ["parallel", "parallel"]} ins(%44 : tensor<1024xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x1xf32>
  %47 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x1xf32>
  %48 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%46, %47 : tensor<1024x1xf32>, tensor<1024x1xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.divf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1xf32>
  %49 = linalg.generic {indexing_maps = [#map14, #map1], iterator_types = ["parallel", "parallel"]} ins(%48 : tensor<1024x1xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %50 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%41, %49 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.subf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %51 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%50, %50 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %52 = linalg.generic {indexing_maps = [#map1, #map12], iterator_types = ["parallel", "reduction"]} ins(%51 : tensor<1024x512xf32>) outs(%43 : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = arith.addf %out, %in : f32
    linalg.yield %110 : f32
  } -> tensor<1024xf32>
  %53 = linalg.generic {indexing_maps = [#map12, #map1], iterator_types = ["parallel", "parallel"]} ins(%52 : tensor<1024xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x1xf32>
  %54 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%53, %47 : tensor<1024x1xf32>, tensor<1024x1xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.divf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1xf32>
  %55 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x1xf32>
  %56 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%54, %55 : tensor<1024x1xf32>, tensor<1024x1xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1xf32>
  %57 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%56 : tensor<1024x1xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = math.rsqrt %in : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1xf32>
  %58 = linalg.generic {indexing_maps = [#map14, #map1], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<1024x1xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %59 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%50, %58 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %60 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%gain1 : tensor<512xf32>) outs(%37 : tensor<1x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x512xf32>
  %61 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%60 : tensor<1x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %62 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%59, %61 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %63 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%shift1 : tensor<512xf32>) outs(%37 : tensor<1x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x512xf32>
  %64 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%63 : tensor<1x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %65 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%62, %64 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %66 = tensor.empty() : tensor<1024x2048xf32>
  %67 = linalg.fill ins(%cst_0 : f32) outs(%66 : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %68 = linalg.matmul ins(%65, %w_up : tensor<1024x512xf32>, tensor<512x2048xf32>) outs(%67 : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %69 = tensor.empty() : tensor<1x2048xf32>
  %70 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b_up : tensor<2048xf32>) outs(%69 : tensor<1x2048xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2048xf32>
  %71 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%70 : tensor<1x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x2048xf32>
  %72 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%68, %71 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %73 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%72, %72 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %74 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%73, %72 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %75 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x2048xf32>
  %76 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%75, %74 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %77 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%72, %76 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %78 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x2048xf32>
  %79 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%78, %77 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %80 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%79 : tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = math.tanh %in : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %81 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x2048xf32>
  %82 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%81, %80 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %83 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x2048xf32>
  %84 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%83, %82 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %85 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%72, %84 : tensor<1024x2048xf32>, tensor<1024x2048xf32>) outs(%66 : tensor<1024x2048xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x2048xf32>
  %86 = linalg.matmul ins(%85, %w_down : tensor<1024x2048xf32>, tensor<2048x512xf32>) outs(%35 : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %87 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b_down : tensor<512xf32>) outs(%37 : tensor<1x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x512xf32>
  %88 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%87 : tensor<1x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %89 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%86, %88 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %90 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%89, %65 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %91 = linalg.generic {indexing_maps = [#map1, #map12], iterator_types = ["parallel", "reduction"]} ins(%90 : tensor<1024x512xf32>) outs(%43 : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = arith.addf %out, %in : f32
    linalg.yield %110 : f32
  } -> tensor<1024xf32>
  %92 = linalg.generic {indexing_maps = [#map12, #map1], iterator_types = ["parallel", "parallel"]} ins(%91 : tensor<1024xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x1xf32>
  %93 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%92, %47 : tensor<1024x1xf32>, tensor<1024x1xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.divf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1xf32>
  %94 = linalg.generic {indexing_maps = [#map14, #map1], iterator_types = ["parallel", "parallel"]} ins(%93 : tensor<1024x1xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %95 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%90, %94 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.subf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %96 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%95, %95 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %97 = linalg.generic {indexing_maps = [#map1, #map12], iterator_types = ["parallel", "reduction"]} ins(%96 : tensor<1024x512xf32>) outs(%43 : tensor<1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = arith.addf %out, %in : f32
    linalg.yield %110 : f32
  } -> tensor<1024xf32>
  %98 = linalg.generic {indexing_maps = [#map12, #map1], iterator_types = ["parallel", "parallel"]} ins(%97 : tensor<1024xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x1xf32>
  %99 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%98, %47 : tensor<1024x1xf32>, tensor<1024x1xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.divf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1xf32>
  %100 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%99, %55 : tensor<1024x1xf32>, tensor<1024x1xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1xf32>
  %101 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%100 : tensor<1024x1xf32>) outs(%45 : tensor<1024x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %110 = math.rsqrt %in : f32
    linalg.yield %110 : f32
  } -> tensor<1024x1xf32>
  %102 = linalg.generic {indexing_maps = [#map14, #map1], iterator_types = ["parallel", "parallel"]} ins(%101 : tensor<1024x1xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %103 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%95, %102 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %104 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%gain2 : tensor<512xf32>) outs(%37 : tensor<1x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x512xf32>
  %105 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%104 : tensor<1x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %106 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%103, %105 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.mulf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %107 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%shift2 : tensor<512xf32>) outs(%37 : tensor<1x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x512xf32>
  %108 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%107 : tensor<1x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1024x512xf32>
  %109 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%106, %108 : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%34 : tensor<1024x512xf32>) {
  ^bb0(%in: f32, %in_16: f32, %out: f32):
    %110 = arith.addf %in, %in_16 : f32
    linalg.yield %110 : f32
  } -> tensor<1024x512xf32>
  %expanded_15 = tensor.expand_shape %109 [[0, 1], [2]] output_shape [8, 128, 512] : tensor<1024x512xf32> into tensor<8x128x512xf32>
  return %expanded_15 : tensor<8x128x512xf32>
}
