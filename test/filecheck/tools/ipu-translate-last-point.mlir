// RUN: ipu-translate --to-numpy --compile %s | filecheck %s
// A reduction whose body does not read what it reduces to has the value of the last point: it begins with anything.

// CHECK:      copyto([[OUT:.*]], f_0, 'unsafe')
// CHECK:      for i0 in range(2):
// CHECK-NEXT:   for i1 in range(2):
// CHECK:          .take({{.*}}, 0, [[OUT]], 'clip')
// CHECK-NEXT:     add([[OUT]], [[OUT]], [[OUT]])
func.func @main(%x: tensor<2x2xf32>, %n: tensor<2xf32>, %out: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k floordiv 2, i)>, affine_map<(i, j, k) -> (j)>, affine_map<(i, j, k) -> (k)>],
                       iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %n : tensor<2x2xf32>, tensor<2xf32>) outs(%out : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %sum = arith.addf %a, %a : f32
    linalg.yield %sum : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}
