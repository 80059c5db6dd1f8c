// A loop of many small steps: x = tanh(x w) + b on 64 x 64.

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64x64xf32>) {
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %m = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e2 = tensor.empty() : tensor<64x64xf32>
    %o = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e2 : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %u: f32):
      %h = math.tanh %p : f32
      %s = arith.addf %h, %q : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    scf.yield %o : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
