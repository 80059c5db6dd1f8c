// A 3 x 3 convolution, bias, relu and 2 x 2 max-pool over images of 56 x 56 pixels with 64 channels.
// Exported from JAX.
// sizes: batch = 8

#map = affine_map<(d0, d1, d2, d3) -> (d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
func.func @main(%x: tensor<8x56x56x64xf32>, %filters: tensor<3x3x64x64xf32>, %bias: tensor<64xf32>) -> tensor<8x28x28x64xf32> {
  %cst = arith.constant 0xFF800000 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %cst_1 = arith.constant dense<0.000000e+00> : tensor<f32>
  %0 = tensor.empty() : tensor<8x56x56x64xf32>
  %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xf32>
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%arg3: index, %arg4: index, %arg5: index, %arg6: index):
    tensor.yield %cst_0 : f32
  } : tensor<8x56x56x64xf32> to tensor<8x58x58x64xf32>
  %2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded, %filters : tensor<8x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%1 : tensor<8x56x56x64xf32>) -> tensor<8x56x56x64xf32>
  %3 = tensor.empty() : tensor<1x1x1x64xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%bias : tensor<64xf32>) outs(%3 : tensor<1x1x1x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x1x1x64xf32>
  %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<1x1x1x64xf32>) outs(%0 : tensor<8x56x56x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x56x56x64xf32>
  %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %5 : tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) outs(%0 : tensor<8x56x56x64xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %13 = arith.addf %in, %in_2 : f32
    linalg.yield %13 : f32
  } -> tensor<8x56x56x64xf32>
  %7 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%0 : tensor<8x56x56x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x56x56x64xf32>
  %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %7 : tensor<8x56x56x64xf32>, tensor<8x56x56x64xf32>) outs(%0 : tensor<8x56x56x64xf32>) {
  ^bb0(%in: f32, %in_2: f32, %out: f32):
    %13 = arith.maximumf %in, %in_2 : f32
    linalg.yield %13 : f32
  } -> tensor<8x56x56x64xf32>
  %9 = tensor.empty() : tensor<2x2xf32>
  %10 = tensor.empty() : tensor<8x28x28x64xf32>
  %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<8x28x28x64xf32>) -> tensor<8x28x28x64xf32>
  %12 = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%8, %9 : tensor<8x56x56x64xf32>, tensor<2x2xf32>) outs(%11 : tensor<8x28x28x64xf32>) -> tensor<8x28x28x64xf32>
  return %12 : tensor<8x28x28x64xf32>
}
