// A dense layer on 48 rows: relu(x w + b).
#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<48x32xf32>, %w: tensor<32x16xf32>, %b: tensor<16xf32>) -> tensor<48x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<48x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<48x16xf32>) -> tensor<48x16xf32>
  %xw = linalg.matmul ins(%x, %w : tensor<48x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<48x16xf32>) -> tensor<48x16xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #row, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%xw, %b : tensor<48x16xf32>, tensor<16xf32>) outs(%empty : tensor<48x16xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<48x16xf32>
  %y = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<48x16xf32>) outs(%empty : tensor<48x16xf32>) {
  ^bb0(%p: f32, %out: f32):
    %r = arith.maximumf %p, %zero : f32
    linalg.yield %r : f32
  } -> tensor<48x16xf32>
  return %y : tensor<48x16xf32>
}
