// A dense layer on 6 rows: relu(x w + b).
#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<6x8xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<6x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<6x4xf32>) -> tensor<6x4xf32>
  %xw = linalg.matmul ins(%x, %w : tensor<6x8xf32>, tensor<8x4xf32>) outs(%zeros : tensor<6x4xf32>) -> tensor<6x4xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #row, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%xw, %b : tensor<6x4xf32>, tensor<4xf32>) outs(%empty : tensor<6x4xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<6x4xf32>
  %y = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<6x4xf32>) outs(%empty : tensor<6x4xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = arith.maximumf %p, %zero : f32
    linalg.yield %r : f32
  } -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
