// A 3 x 3 window for each of 64 channels, over images of 30 x 30 pixels.
// sizes: batch = 8

func.func @main(%x: tensor<8x30x30x64xf32>, %filters: tensor<3x3x64xf32>) -> tensor<8x28x28x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x28x28x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x28x28x64xf32>) -> tensor<8x28x28x64xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %filters : tensor<8x30x30x64xf32>, tensor<3x3x64xf32>)
      outs(%start : tensor<8x28x28x64xf32>) -> tensor<8x28x28x64xf32>
  return %y : tensor<8x28x28x64xf32>
}
