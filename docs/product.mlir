// A product with few results and a long sum.
func.func @main(%x: tensor<64x4096xf32>, %w: tensor<4096x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x4096xf32>, tensor<4096x64xf32>) outs(%zeros : tensor<64x64xf32>)
    -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
