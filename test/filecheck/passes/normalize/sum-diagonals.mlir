// RUN: ipu-opt %s --ipu-sum-diagonals | filecheck %s

#in = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
#rows = affine_map<(i, j) -> (i)>

// CHECK: #[[DIAGONAL:.*]] = affine_map<(d0) -> (d0, d0)>
// CHECK: #[[ONE:.*]] = affine_map<(d0) -> ()>
// CHECK: #[[PLAIN:.*]] = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @trace
// CHECK: linalg.generic {indexing_maps = [#[[DIAGONAL]], #[[ONE]]], iterator_types = ["reduction"]}
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NOT: select
// CHECK: arith.addf %[[SUM]], %[[X]] : f32
func.func @trace(%x: tensor<9x9xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<9x9xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.index_cast %i : index to i32
    %column = arith.index_cast %j : index to i32
    %same = arith.cmpi eq, %row, %column : i32
    %term = arith.select %same, %a, %zero : f32
    %more = arith.addf %sum, %term : f32
    linalg.yield %more : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// What is left of the indices is that of the loop that stays.
// CHECK-LABEL: func.func @a_result_for_each_row
// CHECK: linalg.generic {indexing_maps = [#[[DIAGONAL]], #[[PLAIN]]], iterator_types = ["parallel"]}
// CHECK-COUNT-2: linalg.index 0
// CHECK: arith.index_cast
// CHECK-NOT: select
func.func @a_result_for_each_row(%x: tensor<9x9xi32>, %start: tensor<9xi32>) -> tensor<9xi32> {
  %one = arith.constant 1 : i32
  %y = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x9xi32>) outs(%start : tensor<9xi32>) {
  ^bb0(%a: i32, %product: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %other = arith.cmpi ne, %i, %j : index
    %number = arith.index_cast %j : index to i32
    %b = arith.addi %a, %number : i32
    %factor = arith.select %other, %one, %b : i32
    %more = arith.muli %factor, %product : i32
    linalg.yield %more : i32
  } -> tensor<9xi32>
  return %y : tensor<9xi32>
}

// A sum that may begin with -0.0: 0.0 is not nothing.
// CHECK-LABEL: func.func @of_any_start
// CHECK: arith.select
func.func @of_any_start(%x: tensor<9x9xf32>, %start: tensor<9xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %y = linalg.generic {indexing_maps = [#in, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x9xf32>) outs(%start : tensor<9xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %same = arith.cmpi eq, %i, %j : index
    %term = arith.select %same, %a, %zero : f32
    %more = arith.addf %sum, %term : f32
    linalg.yield %more : f32
  } -> tensor<9xf32>
  return %y : tensor<9xf32>
}

// A matrix of other sides.
// CHECK-LABEL: func.func @of_a_part
// CHECK: arith.select
func.func @of_a_part(%x: tensor<9x8xi32>, %start: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %y = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<9x8xi32>) outs(%start : tensor<i32>) {
  ^bb0(%a: i32, %sum: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %same = arith.cmpi eq, %i, %j : index
    %term = arith.select %same, %a, %zero : i32
    %more = arith.addi %sum, %term : i32
    linalg.yield %more : i32
  } -> tensor<i32>
  return %y : tensor<i32>
}
