// RUN: ipu-opt %s --ipu-block-factors --canonicalize | filecheck %s

#a = affine_map<(n, m, k) -> (n, m)>
#b = affine_map<(n, m, k) -> (n, k)>

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 64, bytes_per_tile = 65536}>} {
// A block is factored, what lies beside it is solved, and its product with itself is added, negated, to what is left.
// CHECK-LABEL: func.func @factor
// CHECK-SAME: (%[[A:.*]]: tensor<96x96xf32>)
// CHECK: %[[REST:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<96x96xf32>)
// CHECK: %[[CORNER:.*]] = tensor.extract_slice %[[REST]][0, 0] [[[N:[0-9]+]], [[N]]] [1, 1]
// CHECK: %[[TURNED:.*]] = linalg.generic {{.*}} ins(%[[CORNER]] :
// CHECK: %[[FACTOR:.*]] = linalg.generic {{.*}}library_call = "cholesky"} ins(%[[TURNED]] :
// CHECK: %[[BESIDE:.*]] = tensor.extract_slice %[[REST]][0, [[N]]] [[[N]], [[LEFT:[0-9]+]]] [1, 1]
// CHECK: %[[SOLVED:.*]] = linalg.generic {{.*}}library_call = "solve_lower"} ins(%[[FACTOR]], %[[BESIDE]] :
// CHECK: %[[BEHIND:.*]] = tensor.extract_slice %[[REST]][[[N]], [[N]]] [[[LEFT]], [[LEFT]]] [1, 1]
// CHECK: %[[MINUS:.*]] = linalg.generic {{.*}} ins(%[[SOLVED]] :
// CHECK: arith.negf
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%[[MINUS]], %[[SOLVED]] : {{.*}}) outs(%[[BEHIND]] :
// CHECK: library_call = "cholesky"
// CHECK: arith.cmpf uno
func.func @factor(%a: tensor<96x96xf32>) -> tensor<96x96xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<96x96xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n, m)>],
      iterator_types = ["reduction", "reduction"], library_call = "cholesky"}
      ins(%a : tensor<96x96xf32>) outs(%empty : tensor<96x96xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %zero : f32
  } -> tensor<96x96xf32>
  return %0 : tensor<96x96xf32>
}

// An upper triangle is solved from its last block on.
// CHECK-LABEL: func.func @solution
// CHECK-SAME: (%[[A:.*]]: tensor<96x96xf32>, %[[B:.*]]: tensor<96x500xf32>)
// CHECK: %[[CORNER:.*]] = tensor.extract_slice %[[A]][64, 64] [32, 32] [1, 1]
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[B]][64, 0] [32, 500] [1, 1]
// CHECK: %[[SOLVED:.*]] = linalg.generic {{.*}}library_call = "solve_upper"} ins(%[[CORNER]], %[[LAST]] :
// CHECK-DAG: %[[OTHERS:.*]] = tensor.extract_slice %[[B]][0, 0] [64, 500] [1, 1]
// CHECK-DAG: %[[ABOVE:.*]] = tensor.extract_slice %[[A]][0, 64] [64, 32] [1, 1]
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%{{.*}}, %[[SOLVED]] : {{.*}}) outs(%[[OTHERS]] :
// CHECK-COUNT-2: library_call = "solve_upper"
func.func @solution(%a: tensor<96x96xf32>, %b: tensor<96x500xf32>) -> tensor<96x500xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<96x500xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #b], iterator_types = ["reduction", "reduction", "parallel"],
      library_call = "solve_upper"}
      ins(%a, %b : tensor<96x96xf32>, tensor<96x500xf32>) outs(%empty : tensor<96x500xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    linalg.yield %zero : f32
  } -> tensor<96x500xf32>
  return %0 : tensor<96x500xf32>
}

// A small one stays.
// CHECK-LABEL: func.func @small
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @small(%a: tensor<24x24xf32>) -> tensor<24x24xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24x24xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n, m)>],
      iterator_types = ["reduction", "reduction"], library_call = "cholesky"}
      ins(%a : tensor<24x24xf32>) outs(%empty : tensor<24x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %zero : f32
  } -> tensor<24x24xf32>
  return %0 : tensor<24x24xf32>
}
}
