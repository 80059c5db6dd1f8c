// RUN: ipu-opt %s --ipu-block-factors --canonicalize | filecheck %s

#a = affine_map<(n, m, k) -> (n, m)>
#b = affine_map<(n, m, k) -> (n, k)>
#a2 = affine_map<(m, n, k) -> (m, n)>
#k = affine_map<(m, n, k) -> (k)>
#m = affine_map<(m, n, k) -> (m)>

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

// Some columns are brought to LU form; the others are put in the order of its pivots, solved beside it, and less a product
// below. Columns that are done follow that order, too.
// CHECK-LABEL: func.func @elimination
// CHECK-SAME: (%[[A:.*]]: tensor<96x96xf32>)
// CHECK: %[[PANEL:.*]] = tensor.extract_slice %[[A]][0, 0] [96, [[N:[0-9]+]]] [1, 1]
// CHECK: %[[LU:.*]]:3 = linalg.generic {{.*}}library_call = "lu"} ins(%[[PANEL]] :
// CHECK: %[[OTHERS:.*]] = tensor.extract_slice %[[A]][0, [[N]]]
// CHECK: %[[TAKEN:.*]] = linalg.generic {{.*}} ins(%[[LU]]#2 :
// CHECK: tensor.extract %[[OTHERS]]
// CHECK: %[[BESIDE:.*]] = tensor.extract_slice %[[TAKEN]][0, 0] [[[N]],
// CHECK: %[[SOLVED:.*]] = linalg.generic {{.*}}library_call = "solve_lower_unit"} ins(%{{.*}}, %[[BESIDE]] :
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%{{.*}}, %[[SOLVED]] :
// CHECK: library_call = "lu"
// CHECK: return
func.func @elimination(%a: tensor<96x96xf32>) -> (tensor<96x96xf32>, tensor<96xi32>, tensor<96xi32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<96x96xf32>
  %row = tensor.empty() : tensor<96xi32>
  %0:3 = linalg.generic {indexing_maps = [#a2, #a2, #k, #m], iterator_types = ["reduction", "reduction", "reduction"],
      library_call = "lu"}
      ins(%a : tensor<96x96xf32>) outs(%empty, %row, %row : tensor<96x96xf32>, tensor<96xi32>, tensor<96xi32>) {
  ^bb0(%x: f32, %out: f32, %p: i32, %q: i32):
    linalg.yield %zero, %none, %none : f32, i32, i32
  } -> (tensor<96x96xf32>, tensor<96xi32>, tensor<96xi32>)
  return %0#0, %0#1, %0#2 : tensor<96x96xf32>, tensor<96xi32>, tensor<96xi32>
}

// Between blocks of f16 numbers would be rounded.
// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @narrow(%a: tensor<96x96xf16>, %b: tensor<96x5xf16>) -> tensor<96x5xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<96x5xf16>
  %0 = linalg.generic {indexing_maps = [#a, #b, #b], iterator_types = ["reduction", "reduction", "parallel"],
      library_call = "solve"}
      ins(%a, %b : tensor<96x96xf16>, tensor<96x5xf16>) outs(%empty : tensor<96x5xf16>) {
  ^bb0(%x: f16, %y: f16, %out: f16):
    linalg.yield %zero : f16
  } -> tensor<96x5xf16>
  return %0 : tensor<96x5xf16>
}

// The triangular factors of parts of the rows, below each other, have the singular values of the matrix.
// CHECK-LABEL: func.func @high
// CHECK: %[[PARTS:.*]] = tensor.expand_shape %{{.*}} output_shape [[[P:[0-9]+]], [[ROWS:[0-9]+]], 8]
// CHECK: %[[TURNED:.*]]:2 = linalg.generic {{.*}}library_call = "reflections"} ins(%[[PARTS]] :
// CHECK: %[[TOP:.*]] = tensor.extract_slice %[[TURNED]]#0[0, 0, 0] [[[P]], 8, 8]
// CHECK: %[[FACTORS:.*]] = linalg.generic {{.*}} ins(%[[TOP]] :
// CHECK: %[[BELOW:.*]] = tensor.collapse_shape %[[FACTORS]]
// CHECK: library_call = "svdvals"} ins(%[[BELOW]] :
func.func @high(%a: tensor<512x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#a2, #k], iterator_types = ["reduction", "reduction", "reduction"],
      library_call = "svdvals"}
      ins(%a : tensor<512x8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %zero : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The columns of a block are reflected one after the other, by two sums over its rows; those behind it together.
// CHECK-LABEL: func.func @reflected
// CHECK: scf.for {{.*}} step %c32
// CHECK: scf.for
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"]
// CHECK: math.copysign
// CHECK: scf.yield
// CHECK: library_call = "solve_lower_unit"
// CHECK: scf.yield
func.func @reflected(%a: tensor<96x96xf32>) -> (tensor<96x96xf32>, tensor<96xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<96x96xf32>
  %row = tensor.empty() : tensor<96xf32>
  %0:2 = linalg.generic {indexing_maps = [#a2, #a2, #k], iterator_types = ["reduction", "reduction", "reduction"],
      library_call = "reflections"}
      ins(%a : tensor<96x96xf32>) outs(%empty, %row : tensor<96x96xf32>, tensor<96xf32>) {
  ^bb0(%x: f32, %out: f32, %s: f32):
    linalg.yield %zero, %zero : f32, f32
  } -> (tensor<96x96xf32>, tensor<96xf32>)
  return %0#0, %0#1 : tensor<96x96xf32>, tensor<96xf32>
}

// The last of them are multiplied first.
// CHECK-LABEL: func.func @multiplied
// CHECK: scf.for
// CHECK: library_call = "solve_upper_unit"
// CHECK: scf.yield
func.func @multiplied(%a: tensor<96x96xf32>, %scales: tensor<96xf32>) -> tensor<96x96xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<96x96xf32>
  %0 = linalg.generic {indexing_maps = [#a2, #k, #a2], iterator_types = ["reduction", "reduction", "reduction"],
      library_call = "reflections_product"}
      ins(%a, %scales : tensor<96x96xf32>, tensor<96xf32>) outs(%empty : tensor<96x96xf32>) {
  ^bb0(%x: f32, %s: f32, %out: f32):
    linalg.yield %zero : f32
  } -> tensor<96x96xf32>
  return %0 : tensor<96x96xf32>
}

// Pairs of rows are rotated until all are orthogonal; the quotients of Rayleigh are ranked, and taken in order.
// CHECK-LABEL: func.func @rotated
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c1140
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "parallel", "reduction"]
// CHECK: math.copysign
// CHECK: scf.yield
// CHECK: arith.cmpf olt
// CHECK: tensor.extract
// CHECK-NOT: library_call
func.func @rotated(%a: tensor<96x96xf32>) -> tensor<96xf32> {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<96xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n)>],
      iterator_types = ["reduction", "reduction"], library_call = "eigvalsh"}
      ins(%a : tensor<96x96xf32>) outs(%row : tensor<96xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %zero : f32
  } -> tensor<96xf32>
  return %0 : tensor<96xf32>
}
}
